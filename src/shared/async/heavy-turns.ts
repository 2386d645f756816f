import { TurnBudget } from './turn-budget.ts';

/** To work on a body of more bytes takes milliseconds. */
export const largeBodyBytes = 64 * 1024;

/** One piece of long work on a body in a turn of the event loop, however many bodies there are: `take(1)` before each. */
export const heavyTurns = new TurnBudget(1);
