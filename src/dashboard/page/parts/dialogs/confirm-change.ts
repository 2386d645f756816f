import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';
import type { DryRunOf } from '#dashboard/page/api/records.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { type Children, classes, html } from '#dashboard/page/html.ts';
import { ProblemBox, Skeleton } from '#dashboard/page/parts/boxes.ts';
import { Conflict, isEditConflict, type SeenResource } from '#dashboard/page/parts/dialogs/conflict.ts';
import { Dialog } from '#dashboard/page/parts/dialogs/dialog.ts';

export interface ChangeRequest {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The resource, which must not have changed since the dialog opened. */
  readonly seen?: SeenResource;
}

interface ConfirmProps<Answer> {
  readonly title: string;
  readonly request: ChangeRequest;
  readonly doLabel: string;
  readonly keepLabel: string;
  readonly isDestructive?: boolean;
  /** Facts that are shown in addition to the recorded changes. */
  readonly facts?: ReadonlyArray<readonly [string, Children]>;
  readonly children?: Children;
  readonly onClose: () => void;
  readonly onDone: (answer: Answer) => void | Promise<void>;
}

/** Shows the events of a dry run in sentences, and then makes the change. */
export function ConfirmChange<Answer>(props: ConfirmProps<Answer>): VNode {
  const { api, live } = useSession();
  const { request, onClose } = props;
  const [seen, setSeen] = useState(request.seen ?? null);
  const [dryRun, setDryRun] = useState<DryRunOf | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);

  const check = () => {
    setError(null);
    setDryRun(null);
    api
      .send<DryRunOf>(request.method, request.path, request.body, { dryRun: true })
      .then(setDryRun, (why) => setError(toApiError(why)));
  };
  useEffect(check, []);

  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await api.send<Answer>(request.method, request.path, request.body, {
        ifMatch: seen?.etag ?? null,
      });
      await props.onDone(answer);
      onClose();
    } catch (why) {
      setError(toApiError(why));
      setBusy(false);
    }
  };

  const lookAgain = async (path: string) => {
    live.refresh();
    try {
      const { etag } = await api.getTagged(path);
      setSeen({ path, etag });
      check();
    } catch (why) {
      setError(toApiError(why));
    }
  };

  const hasConflict = seen !== null && isEditConflict(error);
  const footer = html`<button type="button" class="btn" onClick=${onClose}>${props.keepLabel}</button>
    <button type="button" autofocus class=${classes('btn primary', props.isDestructive && 'danger')} disabled=${dryRun === null || hasConflict}
      aria-busy=${String(isBusy)} onClick=${run}>${props.doLabel}</button>`;
  return html`<${Dialog} title=${props.title} onClose=${onClose} footer=${footer}>
    ${dryRun === null && error === null ? html`<${Skeleton} rows=${2} />` : null}
    ${dryRun === null ? null : html`<${Sentences} dryRun=${dryRun} />`}
    ${props.facts === undefined || props.facts.length === 0 ? null : html`<dl class="kv">${props.facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>`}
    ${props.children}
    ${hasConflict ? html`<${Conflict} seen=${seen} reloadLabel="Look again" onReload=${() => lookAgain(seen.path)} />` : null}
    ${error === null || hasConflict ? null : html`<${ProblemBox} error=${error} inside=${false} onRetry=${dryRun === null ? check : undefined} />`}
    ${dryRun === null || dryRun.events.length === 0 ? null : html`<${Recorded} dryRun=${dryRun} />`}
  <//>`;
}

function Sentences({ dryRun }: { dryRun: DryRunOf }): VNode {
  if (dryRun.events.length === 0) return html`<p>Nothing would change.</p>`;
  return html`<div class="sentences">${dryRun.events.map(({ summary }, index) => html`<p key=${index}>${inFuture(summary)}</p>`)}</div>`;
}

/** Changes the tense of a sentence, because the change is not made yet. */
export function inFuture(summary: string): string {
  return summary.replace(/\bwas\b(?! from)/, 'will be').replace(/\bwere\b/, 'will be');
}

function Recorded({ dryRun }: { dryRun: DryRunOf }): VNode {
  const text = dryRun.events.map(({ type, changes }) => `${type}\n${JSON.stringify(changes, null, 2)}`).join('\n\n');
  return html`<details>
    <summary class="small muted row">What is recorded</summary>
    <pre class="block" tabindex="0" role="region" aria-label="Events">${text}</pre>
  </details>`;
}
