export const USAGE_ROUTE = { tags: ['Usage and budgets'], security: [{ bearer: [] }] };
