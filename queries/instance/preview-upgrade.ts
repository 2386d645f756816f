import { isDeepStrictEqual } from 'node:util';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { notFound } from '#application/operations/access-refusals.ts';
import { get } from '#application/operations/operation.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { missingFields } from '#domain/instance/field-values.ts';
import { visibleTarget } from '#domain/instance/instance.ts';
import { checkUpgradable, upgradeRefusals } from '#domain/instance/upgradable.ts';
import { type Caller, canAccess, isConcealedFor } from '#domain/shared/access.ts';
import { examples } from '#domain/shared/examples.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { type TemplateVersionDocument, templateVersions } from '#projections/template-versions.ts';
import { text } from '#shared/codecs/text.ts';
import { type DriftReads, driftReads, listDrift } from './list-drift.ts';

const Input = t.type({ instanceId: cuid, targetTemplateVersionId: cuid });

const AddedFlow = t.type({ key: text(), name: text() });
const PresentFlow = t.type({ key: text(), name: text(), flowId: cuid });
const Keys = t.readonlyArray(text());

const Preview = t.type(
  {
    instanceId: cuid,
    targetTemplateVersionId: cuid,
    flows: t.type({
      added: t.readonlyArray(AddedFlow),
      /** Flows whose name, type or schema the template changed. All flows that stay get a new version. */
      changed: t.readonlyArray(PresentFlow),
      removed: t.readonlyArray(PresentFlow),
      drifted: t.readonlyArray(cuid),
    }),
    /** `missing`: required fields without a value in the instance and without a default. */
    fields: t.type({ added: Keys, removed: Keys, missing: Keys }),
  },
  'UpgradePreview',
);

type Preview = t.TypeOf<typeof Preview>;

export const previewUpgrade = query<t.TypeOf<typeof Input>, InstanceDocument, Preview, DriftReads | 'templateVersions'>(
  {
    about: {
      name: 'preview_instance_upgrade',
      summary: 'Preview the changes of an instance upgrade',
      description: 'The preview changes nothing. It is refused if the upgrade would be refused.',
      group: 'Instances',
      example: {
        output: {
          instanceId: examples.instance.id,
          targetTemplateVersionId: examples.templateVersion.id,
          flows: {
            added: [{ key: 'closing', name: 'Closing' }],
            changed: [{ key: 'welcome', name: 'Welcome', flowId: examples.flow.id }],
            removed: [],
            drifted: [],
          },
          fields: { added: ['opening_hours'], removed: [], missing: ['opening_hours'] },
        },
      },
    },
    http: get('/v1/instances/:instanceId/upgrade-preview'),
    access: {
      scope: 'instances:read',
      subject: { collection: instances, parameter: 'instanceId', notFound: 'instance-not-found' },
    },
    input: Input,
    output: Preview,
    failures: ['instance-not-found', 'template-version-not-found', ...upgradeRefusals],
    reads: { templateVersions, ...driftReads },
    answer: async (context) => {
      const { subject, caller, read } = context;
      const { targetTemplateVersionId: id } = context.input;
      const wanted = await templateVersion(read.templateVersions, id);
      if (wanted === null || !mayRead(caller, wanted)) {
        return E.left(notFound('template-version-not-found', id));
      }
      const refusal = checkUpgradable(subject.value.state, wanted.record);
      if (refusal !== null) return E.left(refusal);
      const { document, drifted } = await listDrift(context, subject);
      const had = await templateVersion(read.templateVersions, visibleTarget(document.state).templateVersionId);
      const flows = { ...flowChanges(document, had?.record ?? null, wanted.record), drifted };
      const fields = fieldChanges(document, had?.record ?? null, wanted.record);
      return E.right({ body: { instanceId: subject.id, targetTemplateVersionId: id, flows, fields } });
    },
  },
);

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
): Omit<Preview['flows'], 'drifted'> {
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

function fieldChanges(
  { state }: InstanceDocument,
  had: TemplateVersionRecord | null,
  { fieldsSchema }: TemplateVersionRecord,
): Preview['fields'] {
  const before = new Set(had?.fieldsSchema.map(({ key }) => key));
  const after = new Set(fieldsSchema.map(({ key }) => key));
  return {
    added: [...after].filter((key) => !before.has(key)),
    removed: [...before].filter((key) => !after.has(key)),
    missing: missingFields(fieldsSchema, visibleTarget(state).fieldValues),
  };
}
