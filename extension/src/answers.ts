/** Answers the requests of the host with pi's API. */

import { lineList } from "./draw.ts";
import { QUESTION, RESULT } from "./entries.ts";
import type { Host } from "./host.ts";
import type { Json } from "./manifest.ts";
import type { Place, Session } from "./place.ts";
import { select } from "./select.ts";
import { type Level, say, show, type View } from "./text-output.ts";
import { view } from "./view.ts";
import { setWidget } from "./widget.ts";

/** The key of our line in pi's footer. */
export const FOOTER = "pi-subagents";

/** Answers a request or a notification of the host; `undefined` if it is unknown. */
export async function answer(host: Host, method: string, params: Json): Promise<Json | undefined> {
  if (method === "tool/update") {
    host.calls.get(params.callId as string)?.update(params);
    return {};
  }
  const { session } = host.place;
  if (method.startsWith("ui/")) return answerDialog(host.place, method, params);
  if (method === "entry/append") {
    if (isMeantFor(session, params)) {
      append(session, params);
      if (params.customType === RESULT) host.place.offer?.("results");
      if (params.customType === QUESTION) host.place.offer?.("questions");
    }
    return {};
  }
  if (method === "message/send") {
    if (!isMeantFor(session, params)) throw new Error("pi is in another session");
    await new Promise<void>((resolve, reject) => {
      session.held.push({ message: params, resolve, reject });
      sendHeld(session);
    });
    return {};
  }
  return undefined;
}

/** Pi may have left a session while something for it was on its way. */
function isMeantFor(session: Session | undefined, { sessionId }: Json): session is Session {
  return session !== undefined && session.ctx.sessionManager.getSessionId() === sessionId;
}

/** Sends the messages that were held back while the agent was working, which would have taken them for orders. */
export function sendHeld(session: Session): void {
  if (!session.ctx.isIdle()) return;
  // A message that starts a turn comes last: the model would read those behind it as part of its task.
  const held = session.held.splice(0).toSorted((one, other) => Number(startsTurn(one.message)) - Number(startsTurn(other.message)));
  for (const { message, resolve, reject } of held) {
    try {
      send(session, message);
      resolve();
    } catch (error) {
      reject(error as Error);
    }
  }
}

/** Rejects the message, so that the host can send it again later. */
export function refuseHeld(session: Session): void {
  for (const { reject } of session.held.splice(0)) reject(new Error("pi has left the session"));
}

function send({ pi }: Session, params: Json): void {
  const { customType, content, details } = params;
  const message = { customType: customType as string, content: content as string, details, display: true };
  pi.sendMessage(message, { triggerTurn: startsTurn(params) });
}

function startsTurn(message: Json): boolean {
  return message.startsTurn === true;
}

/** Appends an entry; one that cannot be kept is no reason to fail. */
function append(session: Session, { customType, data }: Json): void {
  try {
    session.pi.appendEntry(customType as string, data);
  } catch (error) {
    say(session.ctx, `pi could not keep a record of a sub-agent: ${(error as Error).message}`, "warning");
  }
}

/** How long pi may take to draw the history of a session that it opens, in milliseconds. */
const DRAWN_AFTER = 1_000;

/** Says something where it is seen: pi 0.87 draws the history below what is said before it. */
function sayBelow(place: Place, session: Session, message: string, level: Level): void {
  const wait = session.ctx.mode === "tui" ? session.startedAt + DRAWN_AFTER - Date.now() : 0;
  if (wait <= 0) say(session.ctx, message, level);
  else setTimeout(() => place.session === session && say(session.ctx, message, level), wait);
}

async function answerDialog(place: Place, method: string, params: Json): Promise<Json | undefined> {
  const { session } = place;
  if (!session) return {};
  const { pi, ctx } = session;
  const { ui } = ctx;
  const title = params.title as string;
  switch (method) {
    case "ui/notify":
      sayBelow(place, session, params.message as string, params.level as Level);
      return {};
    case "ui/status":
      ui.setStatus(FOOTER, params.text as string | undefined);
      return {};
    case "ui/widget":
      setWidget(place, lineList(params.lines));
      return {};
    case "ui/show":
      show(pi, ctx, params as unknown as View);
      return {};
    case "ui/view":
      if (ctx.mode === "tui") await view(ctx, { title, lines: lineList(params.lines) });
      else show(pi, ctx, params as unknown as View);
      return {};
    case "ui/select":
      return { value: await select(ctx, title, params.options as string[], params.timeout as number | undefined) };
    case "ui/confirm":
      return { confirmed: await ui.confirm(title, params.message as string) };
    case "ui/input":
      return { value: await ui.input(title, params.placeholder as string | undefined) };
    case "ui/editor":
      return { value: await ui.editor(title, params.prefill as string | undefined) };
    default:
      return undefined;
  }
}
