// A list of very many rows of which only those on the screen are drawn.

import { render } from "./lit-html.js";
import { Heights } from "./heights.js";

/** How far beyond the screen rows are drawn. */
const BEYOND = 240;

/** Makes the place of one row. */
function newBox() {
  const box = document.createElement("div");
  box.setAttribute("role", "presentation");
  return box;
}

/** @template T */
export class VirtualList {
  /**
   * @param {object} options
   * @param {string} options.name The name of the list for screen readers.
   * @param {string} [options.role]
   * @param {number} options.estimate
   * @param {(item: T, place: number) => any} options.row Draws exactly one element.
   * @param {(item: T, place: number) => string} options.key
   * @param {(isAtEnd: boolean) => void} [options.scrolled] A person has scrolled.
   */
  constructor(options) {
    this.options = options;
    this.heights = new Heights(options.estimate);
    /** @type {T[]} */
    this.items = [];
    /** @type {string | undefined} */
    this.firstKey = undefined;
    this.isFollowing = false;
    /** @type {Map<string, {item: T, box: HTMLElement}>} The rows that are drawn, by their keys. */
    this.drawn = new Map();
    /** The places of the rows that are drawn: from this one, up to that one. */
    this.from = 0;
    this.to = 0;
    /** Where the list shall be scrolled to, and its height. To ask the browser while a frame is drawn
     * would make it lay the page out once more, so both are noted when it tells them. */
    this.top = 0;
    this.height = 0;
    /** Where the browser has scrolled it to, and where we have scrolled to ourselves. */
    this.at = 0;
    this.own = -1;
    this.element = document.createElement("div");
    this.element.className = "virtual";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", options.role ?? "list");
    this.element.setAttribute("aria-label", options.name);
    /** As high as all rows, so that there is something to scroll; the rows that are drawn are in it. */
    this.all = document.createElement("div");
    this.all.className = "all";
    this.some = document.createElement("div");
    this.some.className = "some";
    this.all.append(this.some);
    this.element.append(this.all);
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => {
      this.top = this.at = this.element.scrollTop;
      this.height = this.element.clientHeight;
      this.draw();
    }).observe(this.element);
  }

  /** Draws these items. Nothing is measured before `settle`, so that all lists of a page are laid out
   * at once. @param {T[]} items @param {boolean} [isFollowing] stays at the end */
  show(items, isFollowing = false) {
    const firstKey = items.length > 0 ? this.options.key(items[0], 0) : undefined;
    const anchor = firstKey !== this.firstKey ? this.anchor() : undefined;
    if (firstKey !== this.firstKey) this.heights.clear();
    this.firstKey = firstKey;
    this.items = items;
    this.isFollowing = isFollowing;
    this.heights.resize(items.length);
    if (anchor && !isFollowing) this.goTo(anchor);
    this.paint(true);
  }

  /** Returns the item at the top of the screen, to find it again when others come before it. */
  anchor() {
    if (this.items.length === 0) return undefined;
    const place = this.heights.at(this.top);
    const key = this.options.key(this.items[place], place);
    return { key, offset: this.top - this.heights.top(place) };
  }

  /** @param {{key: string, offset: number}} anchor */
  goTo(anchor) {
    const place = this.items.findIndex((item, place) => this.options.key(item, place) === anchor.key);
    if (place >= 0) this.top = this.heights.top(place) + anchor.offset;
  }

  /** Draws the rows that have come onto the screen. */
  draw() {
    this.paint(false);
    this.settle();
  }

  /** Measures the rows that were drawn, and scrolls to where the list shall be. */
  settle() {
    // Each round costs a layout, so rows are drawn again only if the screen is not full of them.
    for (let round = 0; round < 4 && this.measure(); round++) {
      this.place();
      const [first, last] = this.range(0);
      if (first >= this.from && last <= this.to) break;
      this.paint(false);
    }
    this.scroll();
  }

  /** Returns which rows are on the screen or so near to it. @param {number} beyond
   * @returns {[number, number]} */
  range(beyond) {
    const { heights, items, top, height } = this;
    if (items.length === 0) return [0, 0];
    return [heights.at(Math.max(0, top - beyond)), heights.at(top + height + beyond) + 1];
  }

  /** Draws the rows that come onto the screen, and with news also those that are there, which may
   * look different now. @param {boolean} isNews */
  paint(isNews) {
    this.keepInside();
    const [from, to] = this.range(BEYOND);
    const before = this.drawn;
    this.drawn = new Map();
    /** @type {ChildNode | null} */
    let next = this.some.firstChild;
    for (let place = from; place < to; place++) {
      const item = this.items[place];
      const name = this.options.key(item, place);
      const key = this.drawn.has(name) ? `${name} ${place}` : name;
      const known = before.get(key);
      before.delete(key);
      const box = known?.box ?? newBox();
      if (isNews || known?.item !== item) render(this.options.row(item, place), box);
      this.drawn.set(key, { item, box });
      if (box === next) next = next.nextSibling;
      else this.some.insertBefore(box, next);
    }
    for (const { box } of before.values()) box.remove();
    [this.from, this.to] = [from, to];
    this.place();
  }

  /** Puts the rows that are drawn to their place. */
  place() {
    this.keepInside();
    this.all.style.height = `${this.heights.total}px`;
    this.some.style.transform = `translateY(${this.heights.top(this.from)}px)`;
  }

  /** Stays at the end if the list is followed, and never goes beyond it. */
  keepInside() {
    const end = Math.max(0, this.heights.total - this.height);
    this.top = this.isFollowing ? end : Math.min(this.top, end);
  }

  /** Measures what was drawn, and returns whether it was not as high as we thought. */
  measure() {
    const { from, to, top } = this;
    const drawn = this.some.children;
    let hasChanged = false;
    let above = 0;
    for (let place = from; place < to && place - from < drawn.length; place++) {
      const isAbove = this.heights.top(place) + this.heights.heights[place] <= top;
      const height = drawn[place - from].getBoundingClientRect().height;
      if (height === 0) continue;
      const change = this.heights.set(place, height);
      if (Math.abs(change) > 0.5) hasChanged = true;
      if (isAbove) above += change;
    }
    // What a person reads stays where it is when rows above it turn out higher.
    this.top += above;
    return hasChanged;
  }

  /** @param {number} height */
  scrollTo(height) {
    this.top = height;
    this.scroll();
  }

  /** Lets the browser scroll to where the list shall be. */
  scroll() {
    if (Math.abs(this.at - this.top) < 1) return;
    this.element.scrollTop = this.top;
    this.top = this.at = this.own = this.element.scrollTop;
  }

  /** Brings an item onto the screen. @param {string} key */
  reveal(key) {
    const place = this.items.findIndex((item, place) => this.options.key(item, place) === key);
    if (place < 0) return;
    const { heights } = this;
    for (let round = 0; round < 3; round++) {
      const top = heights.top(place);
      const bottom = top + heights.heights[place];
      if (top < this.top) this.top = top;
      else if (bottom > this.top + this.height) this.top = Math.min(top, bottom - this.height);
      this.draw();
    }
  }

  scrolled() {
    this.top = this.at = this.element.scrollTop;
    const isOwn = Math.abs(this.top - this.own) < 2;
    this.own = -1;
    // What is on the screen then was drawn before we scrolled there.
    if (isOwn) return;
    const isAtEnd = this.top + this.height >= this.heights.total - 8;
    if (!isAtEnd) this.isFollowing = false;
    this.options.scrolled?.(isAtEnd);
    this.draw();
  }
}
