import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import { childId, suffixLength } from '#domain/shared/entity.ts';
import type { TemplatePayload } from '#domain/template/payload.ts';
import type { Resources } from './resources.ts';

export interface Planning {
  readonly instanceId: string;
  readonly projectId: string;
  /** Resources that this operation creates again get new ids. */
  readonly operation: number;
  /** The resources that the instance had; null if it never had any. */
  readonly had: Resources | null;
  /** A resource that was deleted by hand is created again. */
  readonly isThere: (id: string) => boolean;
}

/** A resource with the same key keeps its id. */
export function planResources(payload: TemplatePayload, planning: Planning): Resources {
  const { projectId, had, isThere } = planning;
  const kept = <Item extends { readonly key: string; readonly id: string }>(items: ReadonlyArray<Item> = []) =>
    new Map(items.filter(({ id }) => isThere(id)).map(({ key, id }) => [key, id]));
  const derive = (kind: string, key: string, length: number) =>
    derivedCharacters(JSON.stringify([planning.instanceId, planning.operation, kind, key]), length);
  const newId = (kind: string, key: string) => `c${derive(kind, key, idLength - 1)}`;
  const keptFlows = kept(had?.flows);
  const keptStores = kept(had?.stores);
  const profile = had?.agentProfile ?? null;
  return {
    flows: payload.flows.map(({ key, name, flowType: type }) => {
      const id = keptFlows.get(key) ?? newId('flow', key);
      return { key, id, versionId: childId(id, derive('version', key, suffixLength)), name, type };
    }),
    agentProfile: payload.agentProfile
      ? {
          id:
            profile !== null && isThere(profile.id)
              ? profile.id
              : childId(projectId, derive('profile', '', suffixLength)),
          name: payload.agentProfile.name,
          supportedInputLanguages: payload.agentProfile.supportedInputLanguages,
          reasoningMode: payload.agentProfile.reasoningMode,
          outputVoiceId: payload.agentProfile.outputVoiceId ?? '',
        }
      : null,
    stores: (payload.knowledgeBases ?? []).map(({ key, name, description = null }) => ({
      key,
      id: keptStores.get(key) ?? newId('store', key),
      name,
      description,
    })),
  };
}

const idLength = 24;
