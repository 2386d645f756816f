import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { type Children, html } from '#dashboard/page/html.ts';
import { Icon } from '#dashboard/page/parts/basics.ts';

interface FieldProps {
  readonly label: string;
  /** A note after the label: `required`, `kept`. */
  readonly note?: string;
  readonly hint?: Children;
  /** What is wrong with the value. */
  readonly problem?: string | null;
}

/** A field of one line or several. */
export function TextField(
  props: FieldProps & {
    value: string;
    onText: (text: string) => void;
    rows?: number;
    type?: string;
    placeholder?: string;
    mono?: boolean;
    autofocus?: boolean;
    inputMode?: string;
    onKeyDown?: (event: KeyboardEvent) => void;
  },
): VNode {
  const id = useId();
  const { problem = null, rows } = props;
  const described = [problem === null ? '' : `${id}-problem`, props.hint === undefined ? '' : `${id}-hint`]
    .join(' ')
    .trim();
  const shared = {
    id,
    value: props.value,
    class: props.mono ? 'mono' : '',
    placeholder: props.placeholder,
    autofocus: props.autofocus,
    spellcheck: props.mono ? false : undefined,
    'aria-invalid': problem === null ? undefined : 'true',
    'aria-describedby': described === '' ? undefined : described,
    onInput: (event: Event) => props.onText((event.target as HTMLInputElement).value),
    onKeyDown: props.onKeyDown,
  };
  return html`<div class="field">
    <label for=${id}>${props.label}${props.note === undefined ? null : html` <span class="req">${props.note}</span>`}</label>
    ${rows === undefined ? html`<input type=${props.type ?? 'text'} inputmode=${props.inputMode} autocomplete="off" ...${shared} />` : html`<textarea rows=${rows} ...${shared}></textarea>`}
    ${problem === null ? null : html`<${FieldProblem} id=${`${id}-problem`} text=${problem} />`}
    ${props.hint === undefined ? null : html`<p class="hint" id=${`${id}-hint`}>${props.hint}</p>`}
  </div>`;
}

export function FieldProblem({ id, text }: { id: string; text: string }): VNode {
  return html`<p class="error-text" id=${id}><${Icon} name="alert" /><span>${text}</span></p>`;
}

export function SelectField(
  props: FieldProps & {
    value: string;
    options: ReadonlyArray<{ readonly value: string; readonly text: string }>;
    onPick: (value: string) => void;
    hideLabel?: boolean;
  },
): VNode {
  const id = useId();
  const select = html`<select id=${id} value=${props.value} onChange=${(event: Event) => props.onPick((event.target as HTMLSelectElement).value)}>
    ${props.options.map(({ value, text }) => html`<option key=${value} value=${value} selected=${value === props.value}>${text}</option>`)}
  </select>`;
  if (props.hideLabel) return html`<label class="sr" for=${id}>${props.label}</label>${select}`;
  return html`<div class="field"><label for=${id}>${props.label}</label>${select}</div>`;
}
