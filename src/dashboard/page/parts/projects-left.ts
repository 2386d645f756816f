import type { VNode } from 'preact';
import { maxProjectsRead } from '#dashboard/page/app/session/scope.ts';
import { html } from '#dashboard/page/html.ts';
import { Notice } from '#dashboard/page/parts/boxes.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

export function ProjectsLeft({ count }: { count: number }): VNode | null {
  if (count === 0) return null;
  return html`<${Notice} tone="warn">
    Only the first ${maxProjectsRead} projects are listed, and ${countOf(count, 'project')} more are not. Choose an organization at the top left.
  <//>`;
}
