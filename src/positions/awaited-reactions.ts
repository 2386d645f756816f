import type { PassedOptions, Positions, WaitOutcome } from './positions.ts';

/** The processes that react to the events of a request, each with the positions of those events. */
export type AwaitedReactions = ReadonlyMap<string, ReadonlyArray<number>>;

/**
 * Waits until processes have reacted to events, and all read models show what they appended because of them. A process
 * that reacts to its own appends is followed to the end.
 */
export async function effectsShown(
  positions: Positions,
  reactions: AwaitedReactions,
  ms: number,
): Promise<WaitOutcome> {
  if (reactions.size === 0) return 'reached';
  const deadline = performance.now() + ms;
  const effects = await followEffects(positions, reactions, deadline);
  if (effects === null) return 'timeout';
  return effects === 0 ? 'reached' : positions.passed('all', effects, { ms: deadline - performance.now() });
}

/** @returns the position of the last effect; 0 without one; null after the deadline */
async function followEffects(
  positions: Positions,
  reactions: AwaitedReactions,
  deadline: number,
): Promise<number | null> {
  const causes = new Set([...reactions.values()].flat());
  let awaited = new Map([...reactions].map(([name, of]) => [name, Math.max(...of)]));
  for (let last = 0; ; ) {
    const options: PassedOptions = { kind: 'process', ms: deadline - performance.now() };
    const waits = [...awaited].map(([name, position]) => positions.passed({ names: [name] }, position, options));
    if ((await Promise.all(waits)).includes('timeout')) return null;
    const effects = effectsOf(positions, awaited.keys(), causes);
    if (effects.length === 0) return last;
    last = effects.reduce((highest, position) => Math.max(highest, position), last);
    for (const effect of effects) causes.add(effect);
    awaited = new Map([...awaited.keys()].map((name) => [name, last]));
  }
}

/** The effects of some processes because of some events, without those that are among these events already. */
function effectsOf(positions: Positions, names: Iterable<string>, causes: ReadonlySet<number>): ReadonlyArray<number> {
  const effects = new Set<number>();
  for (const name of names) {
    for (const cause of causes) {
      for (const effect of positions.effectsOf(name, cause)) if (!causes.has(effect)) effects.add(effect);
    }
  }
  return [...effects];
}

/**
 * Whether all read models and processes are past some events and, as far as is known, their effects. A process that has
 * stopped or waits counts as past them, because no caller waits for it.
 */
export function isShown(positions: Positions, position: number, reactions: AwaitedReactions): boolean {
  if (!positions.hasPassed('all', position, { strict: true })) return false;
  return [...reactions].every(([name, causes]) =>
    causes.every(
      (cause) =>
        (positions.isHalted('process', name) ||
          positions.hasPassed({ names: [name] }, cause, { kind: 'process', strict: true })) &&
        [...positions.effectsOf(name, cause)].every((effect) => positions.hasPassed('all', effect, { strict: true })),
    ),
  );
}
