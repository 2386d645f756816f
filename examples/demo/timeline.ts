/** Says when the next step of the demo happens, and prints the steps. */
export interface Timeline {
  /** Moves to a later moment than the one before. @param time hh:mm, in UTC */
  readonly moveTo: (daysAgo: number, time: string) => Promise<void>;
  readonly print: (line: string) => void;
}
