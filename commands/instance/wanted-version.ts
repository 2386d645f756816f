import { type Failure, failure } from '#domain/failure.ts';
import type { FieldsSchema, TemplatePayload } from '#domain/template/payload.ts';
import { type TemplateState, type TemplateVersionState, templateVersion } from '#domain/template/template.ts';
import { type Caller, reaches } from '#domain/tenancy.ts';
import type { AlsoLoads } from '#operations/command.ts';

/** A template version, whole. */
export interface WantedVersion {
  readonly template: NonNullable<TemplateState>['record'];
  readonly version: TemplateVersionState;
  readonly payload: TemplatePayload;
  readonly fieldsSchema: FieldsSchema;
}

/** The template version with an id; null where there is none, or not within the caller's reach. */
export async function reachableVersion(
  id: string,
  loads: Pick<AlsoLoads, 'load' | 'dataAt'>,
  caller: Caller,
): Promise<WantedVersion | null> {
  const { tenant } = await loads.load(templateVersion, id);
  return tenant !== null && reaches(caller, tenant) ? versionWith(id, loads) : null;
}

/** The template version with an id; null where there is none. */
export async function versionWith(
  id: string,
  { load, dataAt }: Pick<AlsoLoads, 'load' | 'dataAt'>,
): Promise<WantedVersion | null> {
  const { state } = await load(templateVersion, id);
  const version = state?.versions.get(id);
  if (state === null || version === undefined) return null;
  // As the command that stored them checked them.
  const contents = (await dataAt(templateVersion, id, version.payloadRevision)) as unknown as Contents;
  return { template: state.record, version, payload: contents.payload, fieldsSchema: contents.fieldsSchema };
}

type Contents = Pick<WantedVersion, 'payload' | 'fieldsSchema'>;

/** No such template version, as far as the caller is told. */
export function versionNotFound(id: string): Failure {
  return failure('template-version-not-found', `There is no template version ${id} that this key reaches.`);
}

/** Why an instance cannot have a version. */
export function notPublished({ version }: Pick<WantedVersion, 'version'>): Failure | null {
  if (version.publishedAt !== null) return null;
  return failure(
    'template-version-not-published',
    `Template version ${version.id} is not published. Publish it first.`,
  );
}
