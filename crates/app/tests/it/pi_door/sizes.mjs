// Draws the windows of a call with the functions of the extension, without a pi, for terminals of
// several sizes: `node sizes.mjs EXTENSION MODULES CASE`. Prints one screen after the other.

import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const [extension, modules, name] = process.argv.slice(2);

// The extension gets these from pi.
registerHooks({
  resolve(specifier, context, next) {
    const ours = specifier.startsWith("@earendil-works/");
    const parentURL = pathToFileURL(`${modules}/`).href;
    return ours ? next(specifier, { ...context, parentURL }) : next(specifier, context);
  },
});

const { drawWindows } = await import(pathToFileURL(`${extension}/src/windows.ts`).href);
const { roomOf } = await import(pathToFileURL(`${extension}/src/room.ts`).href);

const { visibleWidth } = await import("@earendil-works/pi-tui");

const SIZES = [60, 80, 120, 200].flatMap((columns) => [20, 24, 50].map((rows) => [columns, rows]));
const theme = { fg: (_colour, text) => text, bold: (text) => text, italic: (text) => text };
const span = (text, role = "plain") => ({ text, role });
const words = (text) => ({ text, kind: "text" });
const call = (text) => ({ text, kind: "tool" });

const running = (number) => ({
  status: "running",
  header: [span("⏳ "), span(`task-${number}`, "title"), span(" • fake/fake-model • 4 tools • 8s/600s", "muted")],
  lines: [
    words("The wall is wet and has to dry before the second coat can be put on, which takes until tomorrow."),
    call("bash → cargo test --workspace"),
    words("Half of it is done▌"),
  ],
  hiddenLines: 12,
});
const queued = (number) => ({
  status: "running",
  isQueued: true,
  header: [span("⏳ "), span(`task-${number}`, "title"), span(" • queued", "warning")],
  lines: [],
});
const done = (number) => {
  const said = [call("read → README.md"), words("# Report"), words("All walls are painted."), words("- one"), words("- two")];
  return {
    status: "completed",
    header: [span("✓ "), span(`task-${number}`, "title"), span(" • fake/fake-model • 4 tools • 12s/600s", "muted")],
    lines: said,
    allMessages: said,
  };
};
const odd = [
  {
    status: "error",
    header: [span("✗ "), span("失敗した作業", "title"), span(" • 3s/600s", "muted")],
    lines: [{ text: "✗ bash → cargo test  exit 3", kind: "tool", spans: [span("✗ bash → cargo test  exit 3", "failed")] }],
    errorMessage: "Provider answered 500: the server of the model is out of order, and it said so at some length",
  },
  {
    status: "running",
    header: [span("⏳ "), span("long words", "title")],
    lines: [words("長い言葉".repeat(40)), words("x".repeat(300)), call(`bash → ${"y".repeat(300)}`)],
  },
];
const CASES = {
  one: { windows: [running(1)] },
  four: { windows: [1, 2, 3, 4].map(running) },
  sixteen: { windows: Array.from({ length: 16 }, (_, place) => (place < 3 ? done : place < 7 ? running : queued)(place + 1)) },
  over: { windows: [1, 2, 3, 4].map(done), footer: [[span("Sessions:", "muted")], [span("  task-1  f00d")]] },
  odd: { windows: odd, warnings: ["long words: No such file: missing.txt"] },
};

for (const [columns, rows] of SIZES) {
  process.stdout.rows = rows;
  const room = () => roomOf({ host: undefined, session: undefined }, "call", 1);
  const details = { header: [span("Sub-agents:", "title"), span(" some running")], maxLinesPerWindow: 15, ...CASES[name] };
  // The box of a call has a margin on both sides.
  const lines = drawWindows(details, { expanded: false, isError: false, room }, theme).render(columns - 2);
  console.log(`== ${columns}×${rows}, ${lines.length} of ${room()} rows`);
  const wide = lines.find((line) => visibleWidth(line) > columns - 2);
  if (wide !== undefined || lines.length > room()) throw new Error(`${columns}×${rows} cannot hold ${wide ?? lines.length}`);
  for (const line of lines) console.log(line.replaceAll("\u001b[0m", "").trimEnd());
}
