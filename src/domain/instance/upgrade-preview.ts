import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { exampleIds } from '#domain/shared/examples.ts';
import { JsonPatch } from '#shared/codecs/json-patch.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

const AddedFlow = t.type({ key: text(), name: text() });
const PresentFlow = t.type({ key: text(), name: text(), flowId: cuid });
const ChangedFlow = t.intersection([
  PresentFlow,
  /** The change of its schema, with `details`. */
  t.partial({ diff: t.type({ patch: JsonPatch, summary: text() }, 'VersionDiff') }),
]);
const Keys = t.readonlyArray(text());

export const UpgradePreview = record(
  'UpgradePreview',
  {
    instanceId: [cuid, exampleIds.instance],
    targetTemplateVersionId: [cuid, exampleIds.templateVersion],
    flows: [
      t.type({
        added: t.readonlyArray(AddedFlow),
        /** Flows whose name, type or schema the template changed. All flows that stay get a new version. */
        changed: t.readonlyArray(ChangedFlow),
        removed: t.readonlyArray(PresentFlow),
        drifted: t.readonlyArray(cuid),
      }),
      {
        added: [{ key: 'closing', name: 'Closing' }],
        changed: [{ key: 'welcome', name: 'Welcome', flowId: exampleIds.flow }],
        removed: [],
        drifted: [],
      },
    ],
    /** `missing`: required fields without a value in the instance and without a default. */
    fields: [
      t.type({ added: Keys, removed: Keys, missing: Keys }),
      { added: ['opening_hours'], removed: [], missing: ['opening_hours'] },
    ],
  },
  /** The diffs that are left out would make more than 2 MiB. */
  { detailsOmitted: t.literal(true) },
);

export type UpgradePreview = t.TypeOf<typeof UpgradePreview>;
