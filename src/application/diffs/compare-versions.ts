import type { FlowVersionRecord } from '#domain/flow/record.ts';
import { describeSchemaChanges } from '#domain/flow/schema-changes.ts';
import { describeContentsChanges } from '#domain/template/contents-changes.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { jsonPatch } from '#shared/codecs/json-patch.ts';
import type { Json } from '#shared/json/json.ts';

/** Two versions as JSON texts of their records. */
export interface Comparison {
  readonly kind: keyof typeof kinds;
  readonly before: string;
  readonly after: string;
}

interface ComparedKind<Record, Contents> {
  readonly contentsOf: (record: Record) => Contents;
  /** Describes the change in sentences. */
  readonly describe: (before: Contents, after: Contents) => ReadonlyArray<string>;
}

const kinds = {
  'flow-version': kind(({ flowSchema }: FlowVersionRecord) => flowSchema, describeSchemaChanges),
  'template-version': kind(
    ({ payload, fieldsSchema }: TemplateVersionRecord) => ({ payload, fieldsSchema }),
    describeContentsChanges,
  ),
};

/**
 * Compares two versions. Takes time in proportion to both: half a second for the largest.
 * @returns `{patch, summary}` as JSON text
 */
export default function compareVersions({ kind, before, after }: Comparison): string {
  return JSON.stringify(kinds[kind](before, after));
}

function kind<Record, Contents>(
  contentsOf: ComparedKind<Record, Contents>['contentsOf'],
  describe: ComparedKind<Record, Contents>['describe'],
) {
  return (before: string, after: string) => {
    const [old, changed] = [before, after].map((text) => contentsOf(JSON.parse(text) as Record)) as [
      Contents,
      Contents,
    ];
    const patch = jsonPatch(old as Json, changed as Json);
    const sentences = patch.length === 0 ? ['The versions are equal.'] : describe(old, changed);
    return { patch, summary: sentences.length === 0 ? 'Only the order of parts changed.' : sentences.join(' ') };
  };
}
