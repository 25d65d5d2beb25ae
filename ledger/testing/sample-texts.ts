import { hashText } from '../../domain/stable-hash.ts';

/** A kind of text, and how to write the n-th one: always the same for a number. */
export interface TextKind {
  readonly name: string;
  readonly write: (number: number) => string;
}

/** Draws that look random and are always the same for a seed. */
function draws(seed: string): (below: number) => number {
  let drawn = 0;
  return (below) => {
    drawn += 1;
    return hashText(`${seed}:${drawn}`) % below;
  };
}

const SENTENCES = {
  English: [
    'The committee reviewed the quarterly figures and asked for a shorter summary.',
    'Please classify the following customer message by its topic and its urgency.',
    'Although the shipment left the warehouse on Tuesday, it never reached the harbour.',
    'She explained, patiently and more than once, why the earlier experiment had failed.',
    'How many apples remain if each of the twelve children takes three of them home?',
    'Rain fell all night; by morning the lower meadow was under water again.',
  ],
  German: [
    'Die Geschäftsführung prüft derzeit, ob die Lieferverträge verlängert werden können.',
    'Bitte fassen Sie die wesentlichen Punkte des Gesprächs in drei Sätzen zusammen.',
    'Obwohl der Zug verspätet war, erreichten wir den Anschluss noch rechtzeitig.',
    'Der Krankenversicherungsbeitrag richtet sich nach dem beitragspflichtigen Einkommen.',
  ],
  Russian: [
    'Комитет рассмотрел квартальные показатели и попросил подготовить краткий отчёт.',
    'Определите тему и срочность следующего сообщения от клиента.',
    'Несмотря на дождь, участники похода добрались до лагеря ещё до темноты.',
    'Почему результаты второго опыта так сильно отличаются от первого?',
  ],
  Arabic: [
    'راجعت اللجنة الأرقام الفصلية وطلبت ملخصا أقصر من ذلك.',
    'يرجى تصنيف رسالة العميل التالية حسب الموضوع ودرجة الأهمية.',
    'وصلت الشحنة إلى الميناء يوم الثلاثاء بعد تأخير طويل.',
  ],
  Hindi: [
    'समिति ने तिमाही आंकड़ों की समीक्षा की और एक छोटा सारांश मांगा।',
    'कृपया ग्राहक के निम्नलिखित संदेश को विषय के अनुसार वर्गीकृत करें।',
    'बारिश पूरी रात होती रही और सुबह तक खेत पानी में डूब गए।',
  ],
  Chinese: [
    '委员会审查了季度数据,并要求提交一份更简短的摘要。',
    '请根据主题和紧急程度对以下客户留言进行分类。',
    '虽然货物星期二就离开了仓库,但至今仍未到达港口。',
    '如果十二个孩子每人带走三个苹果,还剩下多少个?',
  ],
  Japanese: [
    '委員会は四半期の数字を確認し、もっと短い要約を求めました。',
    '次のお客様からのメッセージを、内容と緊急度で分類してください。',
    '荷物は火曜日に倉庫を出たのに、まだ港に届いていません。',
  ],
  Korean: [
    '위원회는 분기별 수치를 검토하고 더 짧은 요약을 요청했습니다.',
    '다음 고객 메시지를 주제와 긴급도에 따라 분류해 주세요.',
    '화물은 화요일에 창고를 떠났지만 아직 항구에 도착하지 않았습니다.',
  ],
} as const;
type Language = keyof typeof SENTENCES;

const LINES_OF_CODE = [
  'export function readLimit(value: unknown): number | null {',
  '  if (typeof value !== "number" || !Number.isFinite(value)) return null;',
  '  const rows = await client.query("SELECT id, name FROM users WHERE org_id = $1", [orgId]);',
  '  for (let index = 0; index < rows.length; index += 1) {',
  '    total += rows[index].amount * (1 + TAX_RATE) - discounts[rows[index].id] ?? 0;',
  'def moving_average(values: list[float], window: int = 5) -> list[float]:',
  '    return [sum(values[i : i + window]) / window for i in range(len(values) - window + 1)]',
  '  }',
  '}',
  '',
  '#include <vector>',
  'std::unordered_map<std::string, std::vector<int>> index_by_name;',
];

function prose(language: Language): TextKind['write'] {
  return (number) => {
    const draw = draws(`${language}:${number}`);
    const sentences = SENTENCES[language];
    const space = language === 'Chinese' || language === 'Japanese' ? '' : ' ';
    return Array.from({ length: 2 + draw(30) }, () => sentences[draw(sentences.length)] ?? '').join(space);
  };
}

function code(number: number): string {
  const draw = draws(`code:${number}`);
  return Array.from({ length: 5 + draw(60) }, () => LINES_OF_CODE[draw(LINES_OF_CODE.length)] ?? '').join('\n');
}

function base64(number: number): string {
  const draw = draws(`base64:${number}`);
  return Buffer.from(Uint8Array.from({ length: 60 + draw(3_000) }, () => draw(256))).toString('base64');
}

function records(number: number): string {
  const draw = draws(`records:${number}`);
  const rows = Array.from({ length: 2 + draw(25) }, (_, row) => ({
    order_id: 100_000 + draw(900_000),
    sku: `AB-${draw(10_000)}-${draw(100)}`,
    price: `${draw(1_000)}.${10 + draw(90)}`,
    shipped_at: `2026-${10 + draw(3)}-${10 + draw(19)}T0${draw(10)}:${10 + draw(50)}:00Z`,
    position: row,
  }));
  return JSON.stringify(rows);
}

function mixed(number: number): string {
  const languages = Object.keys(SENTENCES) as Language[];
  const draw = draws(`mixed:${number}`);
  return Array.from({ length: 2 + draw(4) }, (_, part) => {
    const language = languages[draw(languages.length)] ?? 'English';
    return prose(language)(number * 10 + part);
  }).join('\n\n');
}

/** Ordinary texts of several scripts, and what is sent beside prose. */
export const TEXT_KINDS: readonly TextKind[] = [
  ...(Object.keys(SENTENCES) as Language[]).map((name) => ({ name, write: prose(name) })),
  { name: 'Mixed languages', write: mixed },
  { name: 'Code', write: code },
  { name: 'JSON records', write: records },
  { name: 'Base64 text', write: base64 },
];
