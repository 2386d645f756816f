import type { VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { type ApiError, issueAt, toApiError } from '#dashboard/page/api/api-error.ts';
import type {
  DryRunOf,
  Instance,
  TemplateField,
  TemplateVersion,
  UpgradePreview,
} from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Time } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded, ProblemBox } from '#dashboard/page/parts/boxes.ts';
import { Changes } from '#dashboard/page/parts/changes.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { type Change, code, inserted, plain, removed } from '#dashboard/page/text/parts-of-text.ts';

interface UpgradeProps {
  readonly instance: Instance;
  readonly from: TemplateVersion | null;
  /** Published versions that are newer than the instance's own, newest first. */
  readonly targets: ReadonlyArray<TemplateVersion>;
}

/** Upgrades an instance. The button works after a successful dry run. */
export function UpgradePanel({ instance, from, targets }: UpgradeProps): VNode {
  const [targetId, setTarget] = useState(targets[0]?.id ?? '');
  const target = targets.find(({ id }) => id === targetId) ?? targets[0];
  const preview = useData<UpgradePreview>(
    `/v1/instances/${instance.id}/upgrade-preview?targetTemplateVersionId=${targetId}`,
    { kinds: ['instance', 'flow-version'] },
  );
  if (target === undefined) return html`<span></span>`;
  const options = targets.map(({ id, version }) => ({ value: id, text: `to version ${version}` }));
  return html`<${Card} id="preview" title=${`Upgrade ${instance.name} to version ${target.version}`}
      aside=${options.length < 2 ? undefined : html`<${SelectField} label="Target version" hideLabel=${true} value=${targetId} options=${options} onPick=${setTarget} />`}>
    <div class="body"><dl class="kv">
      ${from === null ? null : html`<dt>From</dt><dd>version ${from.version}${from.tag === null ? '' : `, ${from.tag}`}</dd>`}
      <dt>To</dt><dd>version ${target.version}${target.tag === null ? '' : `, ${target.tag}`}${target.publishedAt === null ? '' : html`, published <${Time} at=${target.publishedAt} />`}</dd>
    </dl></div>
    <${Loaded} data=${preview}>${(known: UpgradePreview) => html`
      <${Changes} changes=${changesOf(known, from, target)} />
      <${UpgradeForm} key=${target.id} instance=${instance} target=${target} preview=${known} />`}<//>
  <//>`;
}

/** The changes in sentences. */
export function changesOf(
  { flows }: UpgradePreview,
  from: TemplateVersion | null,
  to: TemplateVersion,
): ReadonlyArray<Change> {
  const named = (key: string, name: string) => [plain('Flow '), code(key), plain(`, ${name}`)];
  const before = from?.payload.agentProfile;
  const after = to.payload.agentProfile;
  const profile: Change[] =
    after !== undefined && before !== undefined && JSON.stringify(before) !== JSON.stringify(after)
      ? [
          {
            op: 'mod',
            parts: [
              plain(`Agent profile ${after.name}`),
              ...profileParts(before.reasoningMode, after.reasoningMode, 'reasoning'),
              ...profileParts(
                before.supportedInputLanguages.join(', '),
                after.supportedInputLanguages.join(', '),
                'languages',
              ),
            ],
          },
        ]
      : [];
  return [
    ...flows.changed.map(
      ({ key, name }): Change => ({ op: 'mod', parts: [...named(key, name), plain(': a new version')] }),
    ),
    ...flows.added.map(({ key, name }): Change => ({ op: 'add', parts: named(key, name) })),
    ...profile,
    ...flows.removed.map(
      ({ key, name }): Change => ({ op: 'del', parts: [...named(key, name), plain(', last, past the commit point')] }),
    ),
  ];
}

function profileParts(before: string, after: string, what: string) {
  return before === after ? [] : [plain(`: ${what} `), removed(before), plain(' '), inserted(after)];
}

type Drift = 'replace' | 'reject';

function UpgradeForm({
  instance,
  target,
  preview,
}: {
  instance: Instance;
  target: TemplateVersion;
  preview: UpgradePreview;
}): VNode {
  const { api, toasts } = useSession();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [onDrift, setDrift] = useState<Drift>('replace');
  const [error, setError] = useState<ApiError | null>(null);
  const [checkedAt, setCheckedAt] = useState<number | null>(null);
  const [isBusy, setBusy] = useState(false);
  const body = () => ({ targetTemplateVersionId: target.id, newFieldValues: values, onDrift });
  const path = `/v1/instances/${instance.id}/upgrade`;
  const check = async () => {
    setError(null);
    try {
      await api.send<DryRunOf>('POST', path, body(), { dryRun: true });
    } catch (why) {
      setError(toApiError(why));
    }
    setCheckedAt(Date.now());
  };
  useEffect(() => {
    const timer = setTimeout(check, checkDelayMs);
    return () => clearTimeout(timer);
  }, [values, onDrift]);

  const upgrade = async () => {
    setBusy(true);
    try {
      await api.send('POST', path, body());
      toasts.show(
        `The upgrade of ${instance.name} to version ${target.version} has begun.`,
        'The tree shows its progress.',
      );
    } catch (why) {
      setError(toApiError(why));
      setBusy(false);
    }
  };
  const pointers = target.fieldsSchema.map(({ key }) => `/newFieldValues/${key}`);
  const isAtFields =
    error !== null && error.issues.length > 0 && error.issues.every(({ pointer }) => pointers.includes(pointer));
  return html`<div class="body rule">
      ${target.fieldsSchema.length === 0 ? null : html`<h3>Field values for version ${target.version}</h3>`}
      ${target.fieldsSchema.map(
        (
          field,
        ) => html`<${ValueField} key=${field.key} field=${field} instance=${instance} preview=${preview} value=${values[field.key]} problem=${issueAt(error, `/newFieldValues/${field.key}`)}
          onText=${(text: string) => setValues((was) => ({ ...was, [field.key]: text }))} />`,
      )}
      ${preview.flows.drifted.length === 0 ? null : html`<${DriftChoice} instance=${instance} drifted=${preview.flows.drifted} onDrift=${onDrift} onPick=${setDrift} />`}
    </div>
    ${error === null || isAtFields ? null : html`<${ProblemBox} error=${error} />`}
    <footer>
      <button type="button" class="btn primary" disabled=${checkedAt === null || error !== null} aria-busy=${String(isBusy)} onClick=${upgrade}>Upgrade to ${target.version}</button>
      <button type="button" class="btn" onClick=${check}>Check again</button>
      ${checkedAt === null ? null : html`<span>Checked <${Time} at=${checkedAt} />, ${error === null ? 'nothing recorded' : 'refused for the reason above'}</span>`}
    </footer>`;
}

const checkDelayMs = 400;
const longValue = 60;

interface ValueProps {
  readonly field: TemplateField;
  readonly instance: Instance;
  readonly preview: UpgradePreview;
  readonly value: string | undefined;
  readonly problem: string | null;
  readonly onText: (text: string) => void;
}

function ValueField({ field, instance, preview, value, problem, onText }: ValueProps): VNode {
  const { key, label, required, defaultValue, helpText } = field;
  const isNew = preview.fields.added.includes(key);
  const shown = value ?? instance.fieldValues[key] ?? (isNew ? (defaultValue ?? '') : '');
  const note = isNew ? `${required ? 'required, ' : ''}new` : value === undefined ? 'kept' : 'changed';
  const rows = shown.length > longValue ? 3 : undefined;
  return html`<${TextField} label=${label} note=${note} hint=${helpText} value=${shown} problem=${problem} onText=${onText} rows=${rows} />`;
}

function DriftChoice(props: {
  instance: Instance;
  drifted: ReadonlyArray<string>;
  onDrift: Drift;
  onPick: (drift: Drift) => void;
}): VNode {
  const { instance, drifted, onDrift, onPick } = props;
  const name = useId();
  const keys = instance.resources.flows.filter(({ flowId }) => drifted.includes(flowId)).map(({ key }) => key);
  return html`<fieldset class="field plain">
    <legend class="label strong">${keys.length === 1 ? '1 flow was' : `${keys.length} flows were`} changed by hand: <code>${keys.join(', ')}</code></legend>
    <label class="choice"><input type="radio" name=${name} checked=${onDrift === 'replace'} onChange=${() => onPick('replace')} />Replace it<span class="hint">The hand-made version stays in the flow’s history.</span></label>
    <label class="choice"><input type="radio" name=${name} checked=${onDrift === 'reject'} onChange=${() => onPick('reject')} />Refuse the upgrade<span class="hint"><code>onDrift: "reject"</code></span></label>
  </fieldset>`;
}
