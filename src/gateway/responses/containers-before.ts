import type { NamedContainer } from '#gateway/protocols/openai-responses/responses-body.ts';
import type { KeptTurn } from '#responses/turn.ts';
import type { TurnReader } from '#responses/turn-reader.ts';
import { containerName } from './item-names.ts';
import type { NamedItem } from './named-item.ts';

const maxUnknown = 5_000;

/** Items that a request only names. */
interface StoredItems {
  readonly projectId: string;
  readonly turns: ReadonlyArray<KeptTurn>;
  readonly named: ReadonlyArray<NamedItem>;
}

/**
 * Finds containers in the turns before a request and in the items that it names. A container whose provider is unknown
 * is left out.
 * @throws UnavailableError
 */
export async function findContainersBefore(
  reader: Pick<TurnReader, 'providersOf'>,
  { projectId, turns, named }: StoredItems,
): Promise<ReadonlyArray<NamedContainer>> {
  const inItems = named.flatMap(({ containerId: id, turn }) =>
    id === null ? [] : [{ id, pointer: '/input', provider: providersIn(turn).get(id) ?? null }],
  );
  const inTurns = turns.flatMap((turn) =>
    [...providersIn(turn)].map(([id, provider]) => ({ id, pointer: '/previous_response_id', provider })),
  );
  const found = [...inItems, ...inTurns];
  const unknown = new Set(found.flatMap(({ id, provider }) => (provider === null ? [containerName(id)] : [])));
  const names = [...unknown].slice(0, maxUnknown);
  const others = names.length === 0 ? new Map<string, string>() : await reader.providersOf(projectId, names);
  return found.flatMap(({ id, pointer, provider: made }) => {
    const provider = made ?? others.get(containerName(id)) ?? null;
    return provider === null ? [] : [{ pointer, provider }];
  });
}

/** The providers of containers. Only what is in its output is of its own provider. */
function providersIn({ text, outline }: KeptTurn): ReadonlyMap<string, string | null> {
  return new Map(text.containers.map(({ id, isMade }) => [id, isMade ? outline.provider : null]));
}
