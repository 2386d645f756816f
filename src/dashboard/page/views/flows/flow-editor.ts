import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';
import type { Flow, FlowVersion } from '#dashboard/page/api/records.ts';
import { askBeforeLeaving, goTo, setSearch } from '#dashboard/page/app/routing/location.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { compareGraphs } from '#dashboard/page/graph/compare-graphs.ts';
import { edgesOfStep, textsOfStep, withLabel, withText } from '#dashboard/page/graph/edit-flow.ts';
import { readFlowGraph } from '#dashboard/page/graph/flow-graph.ts';
import { html } from '#dashboard/page/html.ts';
import { Segments } from '#dashboard/page/parts/basics.ts';
import { Card, Notice, ProblemBox } from '#dashboard/page/parts/boxes.ts';
import { FlowGraphDrawing } from '#dashboard/page/parts/charts/flow-graph-drawing.ts';
import { CodeLines } from '#dashboard/page/parts/code-lines.ts';
import { isEditConflict } from '#dashboard/page/parts/dialogs/conflict.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';
import { lineDiff } from '#dashboard/page/text/line-diff.ts';

interface EditorProps {
  readonly flow: Flow;
  /** The ETag of the flow when the editor opened. */
  readonly etag: string | null;
  /** The version whose schema is edited. */
  readonly base: FlowVersion;
}

type Parsed = { readonly schema: unknown } | { readonly fault: string };

interface Theirs {
  readonly newest: FlowVersion;
  readonly etag: string | null;
}

/** Edits the flow's steps, or its JSON. Saving makes a new version. */
export function FlowEditor({ flow, etag, base }: EditorProps): VNode {
  const { api, toasts } = useSession();
  const original = useMemo(() => textOf(base.flowSchema), [base.id]);
  const [text, setText] = useState(original);
  const [shown, setShown] = useState<'steps' | 'json'>('steps');
  const [seen] = useState(etag);
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const parsed = useMemo(() => parse(text), [text]);
  const isChanged = text !== original;
  const stopAsking = useRef(() => {});
  useEffect(() => {
    if (isChanged) stopAsking.current = askBeforeLeaving();
    return () => stopAsking.current();
  }, [isChanged]);

  const close = () => setSearch({ edit: null });
  const save = async (ifMatch: string | null) => {
    if (!('schema' in parsed)) return;
    setBusy(true);
    setError(null);
    try {
      const path = `/v1/flows/${flow.id}/versions`;
      const made = await api.send<FlowVersion>('POST', path, { flowSchema: parsed.schema }, { ifMatch });
      toasts.show(`Version ${made.version} is created.`, 'It is not active.');
      stopAsking.current();
      goTo('flows', flow.id, { version: made.id });
    } catch (why) {
      const refusal = toApiError(why);
      if (isEditConflict(refusal)) setTheirs(await readTheirs().catch(() => null));
      else setError(refusal);
      setBusy(false);
    }
  };
  const readTheirs = async (): Promise<Theirs> => {
    const current = await api.getTagged(`/v1/flows/${flow.id}`);
    const { versions } = await api.get<{ versions: ReadonlyArray<FlowVersion> }>(
      `/v1/flows/${flow.id}/versions?sort=-createdAt&limit=1`,
    );
    return { newest: versions[0] ?? base, etag: current.etag };
  };

  const choice = html`<${Segments} label="Edit" value=${shown} options=${views} onPick=${setShown} />`;
  return html`<${Card} id="editor" title=${`New version from version ${base.version}`} note=${isChanged ? 'not saved yet' : 'not changed yet'} aside=${choice}>
    ${
      theirs === null
        ? null
        : html`<${BothTexts} mine=${text} theirs=${theirs} onSave=${() => void save(theirs.etag)} onTake=${() => {
            setText(textOf(theirs.newest.flowSchema));
            setTheirs(null);
          }} />`
    }
    ${shown === 'json' ? html`<${JsonText} text=${text} parsed=${parsed} onText=${setText} />` : html`<${Steps} base=${base} parsed=${parsed} onSchema=${(schema: unknown) => setText(textOf(schema))} />`}
    ${error === null ? null : html`<${ProblemBox} error=${error} />`}
    <footer class="row">
      <button type="button" class="btn primary" disabled=${!isChanged || !('schema' in parsed) || theirs !== null} aria-busy=${String(isBusy)} onClick=${() => void save(seen)}>Save as a new version</button>
      <button type="button" class="btn" onClick=${close}>Close</button>
      <span class="muted">A new version is not active until you activate it.</span>
    </footer>
  <//>`;
}

const views = [
  { value: 'steps', text: 'Steps' },
  { value: 'json', text: 'JSON' },
] as const;

function JsonText({ text, parsed, onText }: { text: string; parsed: Parsed; onText: (text: string) => void }): VNode {
  return html`<div class="body"><${TextField} label="flowSchema" rows=${22} mono=${true} value=${text} onText=${onText} problem=${'fault' in parsed ? parsed.fault : null} /></div>`;
}

interface StepsProps {
  readonly base: FlowVersion;
  readonly parsed: Parsed;
  readonly onSchema: (schema: unknown) => void;
}

function Steps({ base, parsed, onSchema }: StepsProps): VNode {
  const schema = 'schema' in parsed ? parsed.schema : null;
  const graph = useMemo(() => readFlowGraph(schema), [schema]);
  const before = useMemo(() => readFlowGraph(base.flowSchema), [base.id]);
  const [picked, setPicked] = useState<string | null>(null);
  if ('fault' in parsed)
    return html`<div class="body"><p class="muted">The JSON has a mistake: ${parsed.fault}</p></div>`;
  if (graph === null)
    return html`<div class="body"><p class="muted">This schema has no steps to draw. Edit it as JSON.</p></div>`;
  const chosen = graph.nodes.find(({ id }) => id === picked)?.id ?? graph.start ?? graph.nodes[0]?.id ?? '';
  const texts = textsOfStep(schema, chosen);
  const edges = edgesOfStep(schema, chosen);
  return html`<${FlowGraphDrawing} compared=${compareGraphs(before, graph)} chosen=${chosen} onChoose=${setPicked} />
    <div class="body stack">
      <h3>Step <code>${chosen}</code></h3>
      ${texts.length === 0 ? html`<p class="muted">This step has no texts.</p>` : null}
      ${texts.map(({ path, name, value }) => html`<${TextField} key=${`${chosen} ${name}`} label=${name} rows=${value.length > 80 ? 3 : undefined} value=${value} onText=${(next: string) => onSchema(withText(schema, path, next))} />`)}
      ${edges.map((edge, index) => html`<${TextField} key=${`${chosen} edge ${index}`} label=${`Answer that leads to ${edge.to}`} value=${edge.label} onText=${(next: string) => onSchema(withLabel(schema, edge, next))} />`)}
    </div>`;
}

interface BothTextsProps {
  readonly mine: string;
  readonly theirs: Theirs;
  readonly onSave: () => void;
  readonly onTake: () => void;
}

/** Shows two texts, so that neither is lost: what was typed here, and the newest version of somebody else. */
function BothTexts({ mine, theirs, onSave, onTake }: BothTextsProps): VNode {
  const { newest } = theirs;
  const rows = useMemo(() => lineDiff(textOf(newest.flowSchema), mine), [newest, mine]);
  const actions = html`<span class="row"><button type="button" class="btn" onClick=${onSave}>Save mine as a newer version</button>
    <button type="button" class="btn quiet" onClick=${onTake}>Continue with version ${newest.version}</button></span>`;
  return html`<${Notice} tone="bad" inside=${true} role="alert" action=${actions}>
      <strong>Somebody was faster.</strong> The flow has changed since you began; its newest version is ${newest.version}. Your text is still here: lines with + are yours, lines with − are theirs.
    <//>
    <${CodeLines} rows=${rows} label="Your text against theirs" />`;
}

function textOf(schema: unknown): string {
  return JSON.stringify(schema, null, 2) ?? 'null';
}

function parse(text: string): Parsed {
  try {
    return { schema: JSON.parse(text) };
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : error}.` };
  }
}
