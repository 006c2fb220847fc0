// Lets axe-core look at a page, from a world of its own, so that the policy of the page stays on.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

/** Returns what axe-core finds. @param page a page of playwright @param {string} modules where axe-core is */
export async function violations(page, modules) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  const evaluate = async (expression) => {
    const { result } = await session.send("Runtime.evaluate", { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
    return result.value;
  };
  await evaluate(readFileSync(createRequire(modules).resolve("axe-core/axe.min.js"), "utf8"));
  const found = await evaluate("axe.run().then((seen) => JSON.stringify(seen.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`)))");
  return JSON.parse(found);
}
