// The part of lit-html that the page uses.

export interface Template {
  readonly strings: TemplateStringsArray;
}
export function html(strings: TemplateStringsArray, ...values: unknown[]): Template;
export function svg(strings: TemplateStringsArray, ...values: unknown[]): Template;
export function render(value: unknown, container: HTMLElement): unknown;
export const nothing: symbol;
export const noChange: symbol;
