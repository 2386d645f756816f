import type { FieldsSchema, TemplatePayload } from '#domain/template/payload.ts';

/** Published by the demo's partner. */
export interface DemoTemplate {
  readonly name: string;
  readonly description: string;
  /** From version 1 on. */
  readonly versions: ReadonlyArray<DemoTemplateVersion>;
}

/** The body of `POST /v1/templates/{templateId}/versions`. */
export interface DemoTemplateVersion {
  readonly tag: string;
  readonly payload: TemplatePayload;
  readonly fieldsSchema: FieldsSchema;
}
