import type { RelatedStateLoader } from '#application/commands/command.ts';
import { type Caller, canAccess, notFound } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import {
  knownTemplate,
  type TemplateFacts,
  templateVersion,
  templateVersionRecord,
} from '#domain/template/template.ts';

type Loads = Pick<RelatedStateLoader, 'load' | 'dataAt'>;

export interface WantedVersion {
  readonly template: TemplateFacts;
  readonly version: TemplateVersionRecord;
}

/** Null if it does not exist or the caller has no access to it. */
export async function loadAccessibleVersion(id: string, loads: Loads, caller: Caller): Promise<WantedVersion | null> {
  const { tenant } = await loads.load(templateVersion, id);
  return tenant !== null && canAccess(caller, tenant) ? loadVersion(id, loads) : null;
}

export async function loadVersion(id: string, { load, dataAt }: Loads): Promise<WantedVersion | null> {
  const { state } = await load(templateVersion, id);
  if (!templateVersion.isLive(state, id)) return null;
  const version = await templateVersionRecord(state, id, (revision) => dataAt(templateVersion, id, revision));
  return { template: knownTemplate(state).record, version };
}

/** It does not exist or is concealed from the caller. */
export function versionNotFound(id: string): Failure {
  return notFound('template-version-not-found', id);
}
