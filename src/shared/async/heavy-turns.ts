import { TurnBudget } from './turn-budget.ts';

/** Work on a larger body takes milliseconds. */
export const largeBodyBytes = 64 * 1024;

/** Allows one piece of long work on bodies in each turn of the event loop. Call `take(1)` before each piece. */
export const heavyTurns = new TurnBudget(1);
