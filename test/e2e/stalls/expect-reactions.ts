import { setTimeout as sleep } from 'node:timers/promises';
import { describeNodes } from './describe-nodes.ts';
import type { FaultyNodes } from './faulty-nodes.ts';
import type { Expectation } from './reactions.ts';
import { report } from './report.ts';

const pauseMs = 100;

/**
 * Waits until everything expected has happened.
 * @returns the milliseconds until the last of it
 * @throws Error that names what has not happened in time, and describes the nodes
 */
export async function expectReactions(
  nodes: FaultyNodes,
  expected: ReadonlyArray<Expectation>,
  limitMs: number,
): Promise<number> {
  const begunAt = performance.now();
  const passedMs = () => Math.round(performance.now() - begunAt);
  let open = [...expected];
  while (open.length > 0) {
    const happened = await Promise.all(open.map(({ hasHappened }) => hasHappened()));
    open = open.filter((_, index) => happened[index] !== true);
    if (open.length === 0) break;
    if (passedMs() > limitMs) {
      const late = open.map(({ what }) => `not after ${passedMs()} ms: ${what}`);
      throw new Error([...late, await describeNodes(nodes)].join('\n'));
    }
    await sleep(pauseMs);
  }
  report(`${passedMs()} ms: ${expected.map(({ what }) => what).join(', ')}`);
  return passedMs();
}
