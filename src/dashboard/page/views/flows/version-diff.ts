import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FlowVersion, PatchOperation } from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { type ComparedGraph, compareGraphs } from '#dashboard/page/graph/compare-graphs.ts';
import { readFlowGraph } from '#dashboard/page/graph/flow-graph.ts';
import { jsonChanges } from '#dashboard/page/graph/json-changes.ts';
import { html } from '#dashboard/page/html.ts';
import { Segments } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded } from '#dashboard/page/parts/boxes.ts';
import { Changes } from '#dashboard/page/parts/changes.ts';
import { FlowGraphDrawing } from '#dashboard/page/parts/charts/flow-graph-drawing.ts';
import { CodeLines } from '#dashboard/page/parts/code-lines.ts';
import { SelectField } from '#dashboard/page/parts/fields.ts';
import { StepList } from '#dashboard/page/parts/step-list.ts';
import { lineDiff, wholeLines } from '#dashboard/page/text/line-diff.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

interface DiffProps {
  readonly versions: ReadonlyArray<FlowVersion>;
  readonly chosen: FlowVersion;
  /** The version to compare with; null to show the version without a comparison. */
  readonly against: FlowVersion | null;
}

export function VersionDiff(props: DiffProps): VNode {
  const { chosen, against } = props;
  const graph = useMemo(() => readFlowGraph(chosen.flowSchema), [chosen]);
  const before = useMemo(() => (against === null ? null : readFlowGraph(against.flowSchema)), [against]);
  const compared = useMemo(() => (graph === null ? null : compareGraphs(before, graph)), [graph, before]);
  return html`<${Readable} ...${props} compared=${compared} /><${JsonDiff} ...${props} />`;
}

function Readable({ versions, chosen, against, compared }: DiffProps & { compared: ComparedGraph | null }): VNode {
  const [step, setStep] = useState<string | null>(null);
  const schemaChanges = against === null || compared !== null ? [] : jsonChanges(against.flowSchema, chosen.flowSchema);
  const changes = against === null ? [] : (compared?.changes ?? schemaChanges);
  const title =
    against === null ? `Version ${chosen.version}` : `Version ${chosen.version} against version ${against.version}`;
  const note =
    against === null
      ? undefined
      : changes.length === 0
        ? 'alike'
        : compared?.summary || countOf(changes.length, 'change');
  const options = versions
    .filter(({ id }) => id !== chosen.id)
    .map(({ id, version, isActive }) => ({ value: id, text: `version ${version}${isActive ? ', active' : ''}` }));
  const aside = html`<${SelectField} label="Compare with" hideLabel=${true} value=${against?.id ?? ''}
    options=${[{ value: '', text: 'nothing' }, ...options]} onPick=${(id: string) => setSearch({ against: id === '' ? 'nothing' : id })} />`;
  return html`<${Card} id="diff" title=${title} note=${note} aside=${options.length === 0 ? undefined : aside}>
    ${compared === null ? null : html`<${FlowGraphDrawing} compared=${compared} chosen=${step} onChoose=${setStep} />`}
    ${compared === null && against === null ? html`<div class="body"><p class="muted">This schema has no steps to draw. The JSON is below.</p></div>` : null}
    ${against !== null && changes.length === 0 ? html`<div class="body"><p class="muted">Both versions are equal.</p></div>` : null}
    ${changes.length === 0 ? null : html`<${Changes} changes=${changes} />`}
    ${compared === null ? null : html`<details class="more" open=${step !== null}><summary>Steps as a list</summary><div class="body"><${StepList} compared=${compared} chosen=${step} /></div></details>`}
  <//>`;
}

type Shown = 'lines' | 'patch' | 'whole';

function JsonDiff({ chosen, against }: DiffProps): VNode {
  const [picked, setPicked] = useState<Shown>('lines');
  const shown = against === null ? 'whole' : picked;
  const text = (schema: unknown) => JSON.stringify(schema, null, 2) ?? 'null';
  const rows = useMemo(
    () =>
      shown === 'lines' && against !== null
        ? lineDiff(text(against.flowSchema), text(chosen.flowSchema))
        : wholeLines(text(chosen.flowSchema)),
    [shown, against, chosen],
  );
  const options = [
    { value: 'lines', text: 'Lines' },
    { value: 'patch', text: 'Patch' },
    { value: 'whole', text: 'Whole' },
  ] as const;
  const aside =
    against === null
      ? undefined
      : html`<${Segments} label="Show" value=${shown} options=${options} onPick=${setPicked} />`;
  return html`<${Card} id="json" title="JSON" note=${html`<code>flowSchema</code>`} aside=${aside}>
    ${shown === 'patch' && against !== null ? html`<${JsonPatch} from=${against.id} to=${chosen.id} />` : html`<${CodeLines} rows=${rows} label="Flow schema" />`}
  <//>`;
}

function JsonPatch({ from, to }: { from: string; to: string }): VNode {
  const diff = useData<{ patch: ReadonlyArray<PatchOperation> }>(`/v1/flow-versions/${from}/diff/${to}`, { kinds: [] });
  return html`<${Loaded} data=${diff}>${({ patch }: { patch: ReadonlyArray<PatchOperation> }) =>
    html`<div class="body"><p class="small muted">JSON Patch, ${countOf(patch.length, 'operation')}</p>
      <pre class="block" tabindex="0" role="region" aria-label="JSON Patch">${patch.map((operation) => JSON.stringify(operation)).join('\n')}</pre></div>`}<//>`;
}
