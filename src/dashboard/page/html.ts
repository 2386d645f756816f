import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';

export type Children = ComponentChildren;

type Html = (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => VNode;

/** Makes elements from a template: markup without a build step. Text in it is always text, never markup. */
export const html = (htm as unknown as { bind: (create: typeof h) => Html }).bind(h);

/** Joins the names that are not empty. */
export function classes(...names: ReadonlyArray<string | false | null | undefined>): string {
  return names.filter(Boolean).join(' ');
}
