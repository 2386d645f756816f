import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ApiError, issueAt, toApiError } from '#dashboard/page/api/api-error.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { type Children, html } from '#dashboard/page/html.ts';
import { ProblemBox } from '#dashboard/page/parts/boxes.ts';
import { Conflict, isEditConflict, type SeenResource } from '#dashboard/page/parts/dialogs/conflict.ts';
import { Dialog } from '#dashboard/page/parts/dialogs/dialog.ts';

interface FormProps {
  readonly title: string;
  readonly doLabel: string;
  readonly onClose: () => void;
  /** @returns whether it is saved; false keeps the dialog open */
  readonly onSave: () => Promise<boolean>;
  /** Fields of the form. Their faults are shown at their fields. */
  readonly fields?: ReadonlyArray<string>;
  /** The resource, which must not have changed since the dialog opened. */
  readonly seen?: SeenResource;
  readonly children?: Children | ((problemAt: (pointer: string) => string | null) => Children);
}

/** A refusal of the service is shown at its field, or below the form. */
export function FormDialog(props: FormProps): VNode {
  const { live } = useSession();
  const { onClose, fields = [], seen } = props;
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      if (await props.onSave()) onClose();
    } catch (why) {
      setError(toApiError(why));
    }
    setBusy(false);
  };
  const problemAt = (pointer: string) => issueAt(error, pointer);
  const isShownAtFields =
    error !== null && error.issues.length > 0 && error.issues.every(({ pointer }) => fields.includes(pointer));
  const lookAgain = () => {
    live.refresh();
    onClose();
  };
  const hasConflict = seen !== undefined && isEditConflict(error);
  const footer = html`<button type="button" class="btn" onClick=${onClose}>Cancel</button>
    <button type="button" class="btn primary" aria-busy=${String(isBusy)} onClick=${submit}>${props.doLabel}</button>`;
  return html`<${Dialog} title=${props.title} onClose=${onClose} footer=${footer}>
    <form class="stack" onSubmit=${submit}>${typeof props.children === 'function' ? props.children(problemAt) : props.children}</form>
    ${hasConflict ? html`<${Conflict} seen=${seen} reloadLabel="Discard and look again" onReload=${lookAgain} />` : null}
    ${error === null || isShownAtFields || hasConflict ? null : html`<${ProblemBox} error=${error} inside=${false} />`}
  <//>`;
}
