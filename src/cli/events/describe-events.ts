import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonSchema, members } from '#application/operations/json-schema.ts';
import { eventCodecs } from '#domain/event-codecs.ts';
import { listedTypes } from '#domain/histories.ts';
import { upcasters } from '#domain/upcasters.ts';
import { newestVersion } from '#event-store/recorded-event.ts';

/** The records of a frozen example of an event. */
interface ExampleRecords {
  readonly history: { readonly resource: { readonly kind: string }; readonly summary: string };
}

const introduction = `# Events

\`npm run event-reference -- --write\` generates this page; a test fails if it is not up to date.

This page lists every type of event that histories, the audit, the live feed and webhooks show, by kind of resource. The
\`eventTypes\` of a webhook endpoint are these names. A message of the live feed or a webhook is an entry of the audit:
\`position\`, \`type\`, \`time\`, \`actor\`, \`requestId\`, \`resource\`, a sentence in \`summary\`, and \`changes\` as a JSON
Patch of the resource's record. [behaviour.md](behaviour.md#history) describes it. The sentences are examples. The fields are
those of the stored event. \`changes\` shows them if the record has them; no entry contains a secret.
`;

/** The events of a kind of resource, as `/docs/events` shows them. */
export interface EventsOfKind {
  readonly kind: string;
  readonly events: ReadonlyArray<{
    readonly type: string;
    readonly sentence: string;
    readonly fields: ReadonlyArray<string>;
  }>;
}

/** Lists events by kind of resource. @param records the folder with those of each frozen example */
export function listEvents(records: string): ReadonlyArray<EventsOfKind> {
  const kinds = Map.groupBy(listedTypes, (type) => exampleOf(records, type).history.resource.kind);
  return [...kinds]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([kind, types]) => ({
      kind,
      events: types.map((type) => ({
        type,
        sentence: exampleOf(records, type).history.summary,
        fields: fieldsOf(type),
      })),
    }));
}

/** Describes the events as Markdown. */
export function describeEvents(kinds: ReadonlyArray<EventsOfKind>): string {
  return [introduction, ...kinds.map(sectionOf)].join('\n');
}

function sectionOf({ kind, events }: EventsOfKind): string {
  const rows = events.map(
    ({ type, sentence, fields }) =>
      `| \`${type}\` | ${cell(sentence)} | ${fields.map((name) => `\`${name}\``).join(', ')} |`,
  );
  return [`## ${kind}`, '', '| Type | Sentence | Fields |', '|---|---|---|', ...rows, ''].join('\n');
}

function exampleOf(records: string, type: string): ExampleRecords {
  const name = `${type}.v${newestVersion(upcasters, type)}.json`;
  return JSON.parse(readFileSync(join(records, name), 'utf8')) as ExampleRecords;
}

function fieldsOf(type: string): ReadonlyArray<string> {
  const codec = eventCodecs[type];
  if (codec === undefined) throw new Error(`${type} has no codec`);
  return Object.keys(members(jsonSchema(codec)));
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
