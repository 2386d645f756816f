import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useNow } from '#dashboard/page/app/session/session.ts';
import { type Children, classes, html } from '#dashboard/page/html.ts';
import { formatAgo, formatMoment, formatUtc } from '#dashboard/page/text/times.ts';

export type Tone = 'ok' | 'run' | 'warn' | 'bad' | 'idle';

const shapes: Readonly<Record<string, string>> = {
  search: 'M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0M10.5 10.5 14 14',
  pick: 'M5 6.5 8 3.5l3 3M5 9.5l3 3 3-3',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  close: 'm4 4 8 8M12 4l-8 8',
  alert: 'M8 2 14.5 13.5h-13zM8 6.5v3.5M8 11.9v.1',
  next: 'm6 3.5 4.5 4.5L6 12.5',
};

/** Assistive technology ignores it. */
export function Icon({ name }: { name: keyof typeof shapes }): VNode {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${shapes[name]} /></svg>`;
}

/** The logo: a track that turns. */
export function Mark(): VNode {
  return html`<svg class="mark" viewBox="0 0 24 16" aria-hidden="true">
    <path d="M0 12h24" /><path class="on" d="M0 12h6l8-8h10" />
  </svg>`;
}

/** The tones of statuses. */
const tones: Readonly<Record<string, Tone>> = {
  active: 'ok',
  published: 'ok',
  enabled: 'ok',
  running: 'ok',
  succeeded: 'ok',
  ready: 'ok',
  healthy: 'ok',
  provisioning: 'run',
  rebuilding: 'run',
  waiting: 'warn',
  'circuit open': 'warn',
  'key refused': 'bad',
  superseded: 'idle',
  drifted: 'warn',
  undone: 'bad',
  failed: 'bad',
  stopped: 'bad',
  draft: 'idle',
  archived: 'idle',
  disabled: 'idle',
};

export function toneOf(status: string): Tone {
  return tones[status] ?? 'idle';
}

/** A shape, a word and a colour for a status. A plain badge is for usual states. */
export function Badge(props: { tone?: Tone; plain?: boolean; children?: Children }): VNode {
  return html`<span class=${classes('badge', props.tone, props.plain && 'plain')}>${props.children}</span>`;
}

export function Status({ status, plain = false }: { status: string; plain?: boolean }): VNode {
  return html`<${Badge} tone=${toneOf(status)} plain=${plain}>${status}<//>`;
}

const clockMs = 60_000;

/** Shows how long ago the time was. The title is the whole time, in the viewer's zone and in UTC. */
export function Time({ at }: { at: string | number }): VNode {
  const now = useNow(clockMs);
  const title = `${formatMoment(at)} (${formatUtc(at)})`;
  return html`<time datetime=${formatUtc(at)} title=${title}>${formatAgo(at, now)}</time>`;
}

/** Further actions. On a narrow screen a button folds them, so that nobody hits one by mistake. */
export function More({ label, children }: { label: string; children?: Children }): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`<span class=${classes('more', isOpen && 'is-open')}>
    <button type="button" class="btn quiet fold-more" aria-expanded=${String(isOpen)} aria-label=${label} onClick=${() => setOpen(!isOpen)}>More</button>
    <span>${children}</span>
  </span>`;
}

const copiedMs = 1_500;

export function Copy({ text, label }: { text: string; label: string }): VNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), copiedMs);
  };
  return html`<button type="button" class="copy" aria-label=${`Copy ${label} ${text}`} onClick=${copy}>
    ${text}<${Icon} name=${copied ? 'check' : 'copy'} />
  </button>`;
}

/** A choice as a row of buttons. */
export function Segments<Value extends string>(props: {
  label: string;
  value: Value;
  options: ReadonlyArray<{ readonly value: Value; readonly text: string }>;
  onPick: (value: Value) => void;
}): VNode {
  return html`<div class="seg" role="group" aria-label=${props.label}>
    ${props.options.map(
      ({ value, text }) =>
        html`<button key=${value} type="button" aria-pressed=${String(value === props.value)} onClick=${() => props.onPick(value)}>
          ${text}
        </button>`,
    )}
  </div>`;
}
