import type { VNode } from 'preact';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Icon } from '#dashboard/page/parts/basics.ts';
import { Card } from '#dashboard/page/parts/boxes.ts';
import type { Activity } from '#dashboard/page/views/overview/overview-answers.ts';

/** A step for somebody who begins. */
export interface FirstStep {
  readonly title: string;
  readonly why: string;
  readonly action: string;
  readonly address: string;
  readonly isDone: boolean;
}

/** The steps, and which are done. @param calls of models that the gateway has counted */
export function firstStepsOf({ counts }: Pick<Activity, 'counts'>, calls: number): ReadonlyArray<FirstStep> {
  const has = (name: 'flows' | 'webhookEndpoints', least = 1) => (counts[name] ?? 0) >= least;
  return [
    {
      title: 'Make a flow',
      why: 'It defines what an agent says and asks. Each change is a new version.',
      action: 'New flow',
      address: addressOf('flows', null, { new: 'flow' }),
      isDone: has('flows'),
    },
    {
      title: 'Call a model',
      why: 'The playground sends a call through the gateway. Without a configuration the sandbox answers.',
      action: 'Open the playground',
      address: addressOf('gateway'),
      isDone: calls > 0,
    },
    {
      title: 'Make a key',
      why: 'Give each program a key of its own, with few scopes.',
      action: 'New key',
      address: addressOf('keys', null, { new: 'key' }),
      // The first start makes one.
      isDone: (counts.keys ?? 0) > 1,
    },
    {
      title: 'Connect a webhook',
      why: 'Your service gets signed events as they happen.',
      action: 'New endpoint',
      address: addressOf('webhooks', null, { new: 'endpoint' }),
      isDone: has('webhookEndpoints'),
    },
  ];
}

/** Shows the steps. Those that are done are ticked off. */
export function FirstSteps({ steps }: { steps: ReadonlyArray<FirstStep> }): VNode {
  const done = steps.filter(({ isDone }) => isDone).length;
  return html`<${Card} id="first-steps" title="First steps" note=${`${done} of ${steps.length} done`}>
    <ol class="first-steps body">${steps.map(
      ({ title, why, action, address, isDone }, index) => html`<li key=${title} class=${classes(isDone && 'is-done')}>
        <span>${isDone ? html`<${Icon} name="check" /><span class="sr">Done</span>` : `${index + 1}.`}</span>
        <span><strong>${title}</strong><br /><span class="muted">${why}</span></span>
        <a class=${classes('btn', !isDone && steps.findIndex((step) => !step.isDone) === index && 'primary')} href=${address}>${action}</a>
      </li>`,
    )}</ol>
  <//>`;
}
