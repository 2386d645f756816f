import type { AgentProfileContents } from '#domain/agent-profile/agent-profile.ts';
import type { InstanceFlow, Resources } from './resources.ts';

export interface SeenFlow {
  readonly isNamed: (name: string) => boolean;
  readonly activeVersionId: string | null;
  readonly agentProfileId: string | null;
}

export interface SeenAgentProfile {
  readonly holds: (contents: AgentProfileContents) => boolean;
}

/** The flows and profile of an instance; null for those that do not exist. */
export interface SeenResources {
  readonly flow: (id: string) => SeenFlow | null;
  readonly agentProfile: SeenAgentProfile | null;
}

/**
 * Flows that differ from the provisioned state: deleted, renamed, another version active, another agent profile
 * assigned. If the agent profile was replaced or deleted, all flows are drifted.
 * @param underway of a running operation, which is not drift either
 */
export function driftedFlows(
  provisioned: Resources,
  seen: SeenResources,
  underway: Resources | null = null,
): ReadonlyArray<string> {
  const sound = [provisioned, ...(underway === null ? [] : [underway])];
  const profileIsSound =
    provisioned.agentProfile === null ||
    sound.some(({ agentProfile }) => agentProfile !== null && seen.agentProfile?.holds(agentProfile) === true);
  return provisioned.flows
    .filter(({ id }) => {
      const now = seen.flow(id);
      const isSound = sound.some(({ flows, agentProfile }) =>
        flows.some((flow) => flow.id === id && flowIsAs(flow, agentProfile?.id ?? null, now)),
      );
      return !isSound || !profileIsSound;
    })
    .map(({ id }) => id);
}

function flowIsAs({ versionId, name }: InstanceFlow, agentProfileId: string | null, now: SeenFlow | null): boolean {
  if (now === null || now.activeVersionId !== versionId || !now.isNamed(name)) return false;
  return agentProfileId === null || now.agentProfileId === agentProfileId;
}

export function holdSame(wanted: AgentProfileContents, now: AgentProfileContents): boolean {
  return (
    now.name === wanted.name &&
    now.reasoningMode === wanted.reasoningMode &&
    now.outputVoiceId === wanted.outputVoiceId &&
    now.supportedInputLanguages.length === wanted.supportedInputLanguages.length &&
    now.supportedInputLanguages.every((language, index) => language === wanted.supportedInputLanguages[index])
  );
}
