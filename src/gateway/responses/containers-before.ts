import type { NamedContainer } from '#gateway/protocols/openai-responses/responses-body.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { outputOf } from '#responses/turn-items.ts';
import type { TurnReader } from '#responses/turn-reader.ts';
import { containerIn, containerName } from './item-names.ts';
import type { NamedItem } from './sent-item.ts';

/** The most containers that are looked up. */
const maxUnknown = 5_000;

/** Where stored items come from that a request only names. */
export interface StoredItems {
  readonly projectId: string;
  readonly turns: ReadonlyArray<KeptTurn>;
  readonly named: ReadonlyArray<NamedItem>;
}

/**
 * Finds the containers in the turns before a request and in the items that it names, with the provider that has each.
 * One that nothing knows any more is left out.
 * @throws UnavailableError
 */
export async function findContainersBefore(
  reader: Pick<TurnReader, 'providersOf'>,
  { projectId, turns, named }: StoredItems,
): Promise<ReadonlyArray<NamedContainer>> {
  const inItems = named.flatMap(({ item, turn }) =>
    containerIn(item).map((id) => ({ id, pointer: '/input', provider: providersIn(turn).get(id) ?? null })),
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

/** The containers of a turn. Only what is in its output is of its own provider. */
type ProvidersOfContainers = ReadonlyMap<string, string | null>;

const providersOfTurns = new WeakMap<KeptTurn, ProvidersOfContainers>();

/** Kept as long as the turn, because each later one needs it. */
function providersIn(turn: KeptTurn): ProvidersOfContainers {
  const known = providersOfTurns.get(turn);
  if (known !== undefined) return known;
  const { input, response, outline } = turn;
  const providers = new Map([
    ...input.flatMap(containerIn).map((id) => [id, null] as const),
    ...outputOf(response)
      .flatMap(containerIn)
      .map((id) => [id, outline.provider] as const),
  ]);
  providersOfTurns.set(turn, providers);
  return providers;
}
