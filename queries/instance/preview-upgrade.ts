import { isDeepStrictEqual } from 'node:util';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { VersionComparer } from '#application/diffs/version-comparer.ts';
import { get } from '#application/operations/operation.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { missingFields } from '#domain/instance/field-values.ts';
import { visibleTarget } from '#domain/instance/instance.ts';
import { checkUpgradable, upgradeRefusals } from '#domain/instance/upgradable.ts';
import { UpgradePreview } from '#domain/instance/upgrade-preview.ts';
import { type Caller, canAccess, isConcealedFor, notFound } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { type TemplateVersionDocument, templateVersions } from '#projections/template-versions.ts';
import { flag } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { type DriftReads, driftReads, listDrift } from './list-drift.ts';

/** A codec of its own, because a description belongs to the codec, and all flags share theirs. */
const Details = withJsonSchema(new t.Type<boolean, boolean, unknown>(flag.name, flag.is, flag.validate, flag.encode), {
  type: 'boolean',
  description: 'Adds the diff of each changed flow to its entry',
});

const Input = t.intersection([
  t.type({ instanceId: cuid, targetTemplateVersionId: cuid }),
  t.partial({
    details: Details,
  }),
]);

export const previewUpgrade = query<
  t.TypeOf<typeof Input>,
  InstanceDocument,
  UpgradePreview,
  DriftReads | 'templateVersions',
  'waitForPosition' | 'comparer'
>({
  about: {
    name: 'preview_instance_upgrade',
    summary: 'Preview the changes of an instance upgrade',
    description:
      'The preview changes nothing. It is refused if the upgrade would be refused; but a key that may write the template may preview a version that is not published yet.',
    group: 'Instances',
    example: { output: UpgradePreview.example },
  },
  http: get('/v1/instances/:instanceId/upgrade-preview'),
  access: {
    scope: 'instances:read',
    subject: { collection: instances, parameter: 'instanceId', notFound: 'instance-not-found' },
  },
  input: Input,
  output: UpgradePreview,
  failures: ['instance-not-found', 'template-version-not-found', 'too-many-calls', ...upgradeRefusals],
  reads: { templateVersions, ...driftReads },
  services: ['waitForPosition', 'comparer'],
  answer: async ({ input, subject, request: { caller } }, sources) => {
    const { targetTemplateVersionId: id, details = false } = input;
    const { read, comparer } = sources;
    const wanted = await templateVersion(read.templateVersions, id);
    if (wanted === null || !mayRead(caller, wanted)) {
      return E.left(notFound('template-version-not-found', id));
    }
    const refusal = checkUpgradable(subject.value.state, wanted.record, caller.scopes.has('templates:write'));
    if (refusal !== null) return E.left(refusal);
    const { document, drifted } = await listDrift(sources, subject);
    const had = await templateVersion(read.templateVersions, visibleTarget(document.state).templateVersionId);
    const flows = { ...flowChanges(document, had?.record ?? null, wanted.record), drifted };
    const fields = fieldChanges(document, had?.record ?? null, wanted.record);
    const body = { instanceId: subject.id, targetTemplateVersionId: id, flows, fields };
    if (!details) return E.right({ body });
    const compared = await withDiffs(flows.changed, had?.record ?? null, wanted.record, comparer);
    if (E.isLeft(compared)) return compared;
    const { changed, isWhole } = compared.right;
    return E.right({ body: { ...body, flows: { ...flows, changed }, ...(isWhole ? {} : { detailsOmitted: true }) } });
  },
});

async function templateVersion(versions: CollectionReader, id: string): Promise<TemplateVersionDocument | null> {
  return (await versions.get<TemplateVersionDocument>(id))?.value ?? null;
}

/** A customer's key may see its instances but not their templates. */
const mayRead = (caller: Caller, version: TemplateVersionDocument) =>
  !isConcealedFor(caller.keyType, 'templates:read') && canAccess(caller, version);

function flowChanges(
  { state }: InstanceDocument,
  had: TemplateVersionRecord | null,
  wanted: TemplateVersionRecord,
): Omit<UpgradePreview['flows'], 'drifted'> {
  const ids = new Map(state.base?.resources.flows.map(({ key, id }) => [key, id]));
  const before = new Map(had?.payload.flows.map((flow) => [flow.key, flow]));
  const after = new Set(wanted.payload.flows.map(({ key }) => key));
  const present = ({ key, name }: { readonly key: string; readonly name: string }) => {
    const flowId = ids.get(key);
    return flowId === undefined ? [] : [{ key, name, flowId }];
  };
  return {
    added: wanted.payload.flows.filter(({ key }) => !ids.has(key)).map(({ key, name }) => ({ key, name })),
    changed: wanted.payload.flows.filter((flow) => !isDeepStrictEqual(flow, before.get(flow.key))).flatMap(present),
    removed: (state.base?.resources.flows ?? []).filter(({ key }) => !after.has(key)).flatMap(present),
  };
}

type ChangedFlow = UpgradePreview['flows']['changed'][number];

/** Maximum length of all diffs together. */
const maxDiffCharacters = 2 * 1024 * 1024;

/** Makes the diffs one after another, until they would be too long. */
async function withDiffs(
  flows: ReadonlyArray<ChangedFlow>,
  had: TemplateVersionRecord | null,
  wanted: TemplateVersionRecord,
  comparer: Pick<VersionComparer, 'compare'>,
): Promise<E.Either<Failure, { readonly changed: ReadonlyArray<ChangedFlow>; readonly isWhole: boolean }>> {
  const changed: ChangedFlow[] = [];
  let characters = 0;
  for (const flow of flows) {
    const [before, after] = [had, wanted].map((version) => schemaText(version, flow.key)) as [string, string];
    const compared =
      characters > maxDiffCharacters
        ? null
        : await comparer.compare<NonNullable<ChangedFlow['diff']>>({ kind: 'flow-version', before, after });
    if (compared !== null && E.isLeft(compared)) return compared;
    characters += compared?.right.text.length ?? 0;
    const fits = compared !== null && characters <= maxDiffCharacters;
    changed.push(fits ? { ...flow, diff: compared.right.parse() } : flow);
  }
  return E.right({ changed, isWhole: characters <= maxDiffCharacters });
}

function schemaText(version: TemplateVersionRecord | null, key: string): string {
  const flow = version?.payload.flows.find((each) => each.key === key);
  return JSON.stringify({ flowSchema: flow?.flowSchema ?? null });
}

function fieldChanges(
  { state }: InstanceDocument,
  had: TemplateVersionRecord | null,
  { fieldsSchema }: TemplateVersionRecord,
): UpgradePreview['fields'] {
  const before = new Set(had?.fieldsSchema.map(({ key }) => key));
  const after = new Set(fieldsSchema.map(({ key }) => key));
  return {
    added: [...after].filter((key) => !before.has(key)),
    removed: [...before].filter((key) => !after.has(key)),
    missing: missingFields(fieldsSchema, visibleTarget(state).fieldValues),
  };
}
