import type { Tone } from '#dashboard/page/parts/basics.ts';

/** How a call may end. */
export const outcomes: ReadonlyArray<string> = ['served', 'refused', 'failed', 'broken-off', 'client-gone'];

const tones: Readonly<Record<string, Tone>> = {
  served: 'ok',
  refused: 'warn',
  failed: 'bad',
  'broken-off': 'bad',
  abandoned: 'idle',
};

/** Returns the tone of an outcome of a call, or of the result of an attempt. */
export function outcomeTone(outcome: string): Tone {
  return tones[outcome] ?? 'idle';
}
