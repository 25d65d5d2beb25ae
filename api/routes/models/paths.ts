export const MODELS_ROUTE = { tags: ['Models'], security: [{ bearer: [] }] };
