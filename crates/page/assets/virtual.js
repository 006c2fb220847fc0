// A list of very many rows of which only those on the screen are drawn.

import { render } from "./lit-html.js";
import { Heights } from "./heights.js";

/** How far beyond the screen rows are drawn. */
const BEYOND = 240;

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
    /** Where we have scrolled to ourselves. */
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
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Draws these items. @param {T[]} items @param {boolean} [isFollowing] stays at the end */
  show(items, isFollowing = false) {
    const firstKey = items.length > 0 ? this.options.key(items[0], 0) : undefined;
    const anchor = firstKey !== this.firstKey ? this.anchor() : undefined;
    if (firstKey !== this.firstKey) this.heights.clear();
    this.firstKey = firstKey;
    this.items = items;
    this.isFollowing = isFollowing;
    this.heights.resize(items.length);
    this.draw(anchor);
  }

  /** Returns the item at the top of the screen, to find it again when others come before it. */
  anchor() {
    if (this.items.length === 0) return undefined;
    const place = this.heights.at(this.element.scrollTop);
    const key = this.options.key(this.items[place], place);
    return { key, offset: this.element.scrollTop - this.heights.top(place) };
  }

  /** @param {{key: string, offset: number}} [anchor] */
  draw(anchor) {
    const { element, heights, items } = this;
    if (anchor && !this.isFollowing) {
      const place = items.findIndex((item, place) => this.options.key(item, place) === anchor.key);
      if (place >= 0) this.scrollTo(heights.top(place) + anchor.offset);
    }
    // Each round costs a layout, so rows are drawn again only if the screen is not full of them.
    for (let round = 0; round < 4; round++) {
      this.all.style.height = `${heights.total}px`;
      if (this.isFollowing) this.toEnd();
      const [from, to] = this.range(BEYOND);
      this.paint(from, to);
      const hasChanged = this.measure(from, to);
      if (hasChanged) this.place(from);
      if (this.isFollowing) this.toEnd();
      const [first, last] = this.range(0);
      if (!hasChanged || (first >= from && last <= to)) return;
    }
  }

  /** Returns which rows are on the screen or so near to it. @param {number} beyond
   * @returns {[number, number]} */
  range(beyond) {
    const { element, heights, items } = this;
    if (items.length === 0) return [0, 0];
    const top = element.scrollTop;
    return [heights.at(Math.max(0, top - beyond)), heights.at(top + element.clientHeight + beyond) + 1];
  }

  toEnd() {
    this.scrollTo(Math.max(0, this.heights.total - this.element.clientHeight));
  }

  /** @param {number} from @param {number} to */
  paint(from, to) {
    const rows = [];
    for (let place = from; place < to; place++) rows.push(this.options.row(this.items[place], place));
    render(rows, this.some);
    this.place(from);
  }

  /** Puts the rows that are drawn to their place. @param {number} from */
  place(from) {
    this.all.style.height = `${this.heights.total}px`;
    this.some.style.transform = `translateY(${this.heights.top(from)}px)`;
  }

  /** Measures what was drawn, and returns whether it was not as high as we thought.
   * @param {number} from @param {number} to */
  measure(from, to) {
    const drawn = this.some.children;
    const top = this.element.scrollTop;
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
    if (above !== 0 && !this.isFollowing) this.scrollTo(top + above);
    return hasChanged;
  }

  /** @param {number} height */
  scrollTo(height) {
    if (Math.abs(this.element.scrollTop - height) < 1) return;
    this.element.scrollTop = height;
    this.own = this.element.scrollTop;
  }

  /** Brings an item onto the screen. @param {string} key */
  reveal(key) {
    const place = this.items.findIndex((item, place) => this.options.key(item, place) === key);
    if (place < 0) return;
    const { element, heights } = this;
    for (let round = 0; round < 3; round++) {
      const top = heights.top(place);
      const bottom = top + heights.heights[place];
      if (top < element.scrollTop) this.scrollTo(top);
      else if (bottom > element.scrollTop + element.clientHeight) {
        this.scrollTo(Math.min(top, bottom - element.clientHeight));
      }
      this.draw();
    }
  }

  scrolled() {
    const { element } = this;
    const isOwn = Math.abs(element.scrollTop - this.own) < 2;
    this.own = -1;
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 8;
    if (!isOwn) {
      if (!isAtEnd) this.isFollowing = false;
      this.options.scrolled?.(isAtEnd);
    }
    this.draw();
  }
}
