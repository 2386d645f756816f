import { setImmediate as nextTurn } from 'node:timers/promises';
import { Deadline } from '#gateway/attempt/deadline.ts';

const now = performance.now.bind(performance);
let movedMs = 0;

/**
 * The monotonic clock of a suite's tests, which can also be moved, so that deadlines need no waits. It is not moved back:
 * a deadline that is still set would fire late.
 */
export function movedTime(): { readonly pass: (milliseconds: number) => Promise<void> } {
  before(() => {
    performance.now = () => now() + movedMs;
  });
  return {
    /** Lets a time pass, and the deadlines fire that it ends. */
    pass: async (milliseconds) => {
      // What was sent before arrives before.
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      movedMs += milliseconds;
      await new Promise<void>((resolve) => new Deadline(resolve).set(0));
      await nextTurn();
      await nextTurn();
    },
  };
}
