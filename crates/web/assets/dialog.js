// What is shown above the page. It has the keyboard until it is closed, and gives it back then.

import { render } from "./lit-html.js";
import { help } from "./keys.js";
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

  /** Opens or closes it, after the page around it is drawn. */
  draw() {
    const { element, model, dispatch } = this;
    if (!model.shown) return element.close();
    element.setAttribute("aria-label", model.shown === "keys" ? "Keys" : "Share");
    render(model.shown === "keys" ? help(dispatch) : share(model, dispatch), element);
    if (!element.open) element.showModal();
  }
}
