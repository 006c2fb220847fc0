// The heights of very many rows, so that the place of each is found without adding all of them up.

export class Heights {
  /** @param {number} estimate The height of a row that was never measured. */
  constructor(estimate) {
    this.estimate = estimate;
    /** @type {number[]} */
    this.heights = [];
    /** @type {Float64Array} A Fenwick tree over what rows differ from the estimate. */
    this.tree = new Float64Array(1024);
  }

  get count() {
    return this.heights.length;
  }

  /** Sets how many rows there are; rows that go are forgotten. @param {number} count */
  resize(count) {
    while (this.heights.length > count) {
      this.set(this.heights.length - 1, this.estimate);
      this.heights.pop();
    }
    if (count + 1 > this.tree.length) this.grow(count + 1);
    while (this.heights.length < count) this.heights.push(this.estimate);
  }

  /** @param {number} size */
  grow(size) {
    let length = this.tree.length;
    while (length < size) length *= 2;
    const old = this.heights;
    this.tree = new Float64Array(length);
    this.heights = [];
    for (let place = 0; place < old.length; place++) {
      this.heights.push(this.estimate);
      this.set(place, old[place]);
    }
  }

  /** Forgets all heights, because the rows have changed. */
  clear() {
    this.heights = [];
    this.tree.fill(0);
  }

  /** Sets the height of a row, and returns by how much that differs. @param {number} place
   * @param {number} height @returns {number} */
  set(place, height) {
    const change = height - this.heights[place];
    if (change !== 0) {
      this.heights[place] = height;
      for (let i = place + 1; i < this.tree.length; i += i & -i) this.tree[i] += change;
    }
    return change;
  }

  /** Returns where a row begins. @param {number} place @returns {number} */
  top(place) {
    let sum = place * this.estimate;
    for (let i = place; i > 0; i -= i & -i) sum += this.tree[i];
    return sum;
  }

  get total() {
    return this.top(this.count);
  }

  /** Returns the row at a height. @param {number} height @returns {number} */
  at(height) {
    let low = 0;
    let high = Math.max(0, this.count - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
