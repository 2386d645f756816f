import { isDeepStrictEqual } from 'node:util';
import { describeItemChanges, type Items, itemChanges } from '#domain/history/item-changes.ts';
import type { Json } from '#shared/json/json.ts';
import type { TemplateVersionRecord } from './record.ts';

export type TemplateContents = Pick<TemplateVersionRecord, 'payload' | 'fieldsSchema'>;

/** Describes the changes as sentences. */
export function describeContentsChanges(before: TemplateContents, after: TemplateContents): ReadonlyArray<string> {
  const lists = listsOf(before).map(([what, items], index) =>
    describeItemChanges(what, itemChanges(items, listsOf(after)[index]?.[1] ?? new Map())),
  );
  const isSame = isDeepStrictEqual(before.payload.agentProfile, after.payload.agentProfile);
  return [...lists.flat(), ...(isSame ? [] : ['The agent profile changed.'])];
}

function listsOf({ payload, fieldsSchema }: TemplateContents): ReadonlyArray<readonly [string, Items]> {
  const { flows, knowledgeBases = [], phoneNumberRequirements = [], integrations = [] } = payload;
  const byKey = (items: ReadonlyArray<{ readonly key: string }>) =>
    new Map(items.map((item) => [item.key, item as unknown as Json]));
  return [
    ['Fields', byKey(fieldsSchema)],
    ['Flows', byKey(flows)],
    ['Knowledge bases', byKey(knowledgeBases)],
    ['Phone number requirements', byKey(phoneNumberRequirements)],
    ['Integrations', new Map(integrations.map((item) => [item.integrationTemplateId, item as unknown as Json]))],
  ];
}
