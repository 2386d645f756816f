/** Counts turns of the event loop from now on. */
export function turnsOf(): { readonly now: () => number; readonly end: () => void } {
  let turn = 0;
  let next: NodeJS.Immediate;
  const count = () => {
    turn += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  return { now: () => turn, end: () => clearImmediate(next) };
}
