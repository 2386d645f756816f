import type { Provider } from '#gateway/providers/provider.ts';
import type { Catalogue } from './catalogue.ts';

/** A configuration at a time. A call uses the same snapshot until it ends. */
export interface ConfigurationSnapshot {
  readonly catalogue: Catalogue;
  readonly providers: ReadonlyMap<string, Provider>;
  /** How many calls use it. Their providers stay open. */
  runningCalls: number;
}
