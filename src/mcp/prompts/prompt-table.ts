import { explainChanges } from './explain-changes.ts';
import { prepareUpgrade } from './prepare-upgrade.ts';
import type { PromptDefinition } from './prompt.ts';
import { reviewFlowChange } from './review-flow-change.ts';

/** All prompts. */
export const prompts: ReadonlyArray<PromptDefinition> = [reviewFlowChange, explainChanges, prepareUpgrade];
