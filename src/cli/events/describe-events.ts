import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonSchema, members } from '#application/operations/json-schema.ts';
import { listedTypes } from '#domain/history/table.ts';
import { eventCodecs } from '#domain/shared/event-codecs.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import { newestVersion } from '#event-store/upcasting.ts';

/** What is kept of a frozen example of an event. */
interface ExampleRecords {
  readonly history: { readonly resource: { readonly kind: string }; readonly summary: string };
}

const introduction = `# Events

Made by \`npm run event-reference -- --write\`; a test says when it is old.

Every type of event that histories, the audit, the live feed and webhooks show, by the kind of resource. \`eventTypes\` of a
webhook endpoint takes these names. What is sent is an entry of the audit: \`position\`, \`type\`, \`time\`, \`actor\`,
\`requestId\`, \`resource\`, a sentence in \`summary\`, and \`changes\` as a JSON Patch of the resource's record: see
[behaviour.md](behaviour.md#history). The sentences here are of examples. The fields are those of the stored event. They show
in \`changes\` where the record has them; secrets are in no entry.
`;

/**
 * The reference of all listed events, as Markdown.
 * @param records the folder with the records that are kept of each frozen example
 */
export function describeEvents(records: string): string {
  const kinds = Map.groupBy(listedTypes, (type) => exampleOf(records, type).history.resource.kind);
  const byName = [...kinds].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [introduction, ...byName.map(([kind, types]) => sectionOf(records, kind, types))].join('\n');
}

function sectionOf(records: string, kind: string, types: ReadonlyArray<string>): string {
  const rows = types.map((type) => {
    const { summary } = exampleOf(records, type).history;
    return `| \`${type}\` | ${cell(summary)} | ${fieldsOf(type)} |`;
  });
  return [`## ${kind}`, '', '| Type | Sentence | Fields |', '|---|---|---|', ...rows, ''].join('\n');
}

function exampleOf(records: string, type: string): ExampleRecords {
  const name = `${type}.v${newestVersion(upcasters, type)}.json`;
  return JSON.parse(readFileSync(join(records, name), 'utf8')) as ExampleRecords;
}

function fieldsOf(type: string): string {
  const codec = eventCodecs[type];
  if (codec === undefined) throw new Error(`${type} has no codec`);
  return Object.keys(members(jsonSchema(codec)))
    .map((name) => `\`${name}\``)
    .join(', ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
