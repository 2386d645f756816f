/** Says when the next step of the demo happens, and prints the steps. */
export interface Timeline {
  /** Moves to a moment, which is later than the one before. @param time hh:mm, in UTC */
  readonly moveTo: (daysAgo: number, time: string) => Promise<void>;
  readonly print: (line: string) => void;
}
