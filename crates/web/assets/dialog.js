// What is shown above the page. It has the keyboard until it is closed, and gives it back then.

import { render } from "./lit-html.js";
import { help } from "./keys.js";
import { palette } from "./palette.js";
import { share } from "./share.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

export class Dialog {
  /** @param {Model} model @param {Dispatch} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    this.element = document.createElement("dialog");
    this.element.className = "above";
    this.element.addEventListener("click", (event) => {
      // What is inside fills the dialog, so this is a click beside it.
      if (event.target === this.element) this.leave();
    });
    this.element.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.leave();
    });
  }

  leave() {
    if (this.model.shown) this.dispatch({ type: "show", what: this.model.shown });
  }

  /** Returns the name and the content of what is shown. @param {"keys" | "share" | "palette"} shown @returns {[string, any]} */
  content(shown) {
    switch (shown) {
      case "keys":
        return ["Keys", help(this.dispatch)];
      case "share":
        return ["Share", share(this.model, this.dispatch)];
      case "palette":
        return ["Go to", palette(this.model, this.dispatch)];
    }
  }

  /** Opens or closes it, after the page around it is drawn. */
  draw() {
    const { element, model, dispatch } = this;
    if (!model.shown) return element.close();
    const [name, content] = this.content(model.shown);
    element.setAttribute("aria-label", name);
    render(content, element);
    if (!element.open) element.showModal();
  }
}
