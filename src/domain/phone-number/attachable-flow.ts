import type { FlowState } from '#domain/flow/flow.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';

/** Why a phone number of a project cannot point at a flow: it is unknown, deleted or another project's. */
export function checkAttachable(flow: FlowState, flowId: string, projectId: string): Failure | null {
  if (flow !== null && !flow.deleted && flow.record.projectId === projectId) return null;
  return failure('flow-not-found', `There is no flow ${flowId} in this project.`);
}
