/** Says when the next step of the demo happens, and prints the steps. */
export interface Timeline {
  /** Later than the moment before. @param time hh:mm, in UTC */
  readonly moveTo: (daysAgo: number, time: string) => Promise<void>;
  readonly print: (line: string) => void;
}
