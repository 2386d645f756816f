/** Counts turns of the event loop, from 0. Call `end` to stop. */
export function countTurns(): { readonly now: () => number; readonly end: () => void } {
  let turn = 0;
  let next: NodeJS.Immediate;
  const count = () => {
    turn += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  return { now: () => turn, end: () => clearImmediate(next) };
}
