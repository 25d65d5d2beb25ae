/** A customer's message, with what a good reader would make of it. */
export interface Ticket {
  readonly id: string;
  readonly subject: string;
  readonly body: string;
  readonly category: string;
  readonly urgency: 'low' | 'normal' | 'high';
}

interface Theme {
  readonly category: string;
  readonly urgency: readonly Ticket['urgency'][];
  readonly subjects: readonly string[];
  readonly openings: readonly string[];
  readonly details: readonly string[];
}

const THEMES: readonly Theme[] = [
  {
    category: 'billing',
    urgency: ['normal', 'normal', 'high'],
    subjects: ['Charged twice for order {order}', 'Invoice for {product} is wrong', 'Refund still missing'],
    openings: [
      'I was charged {amount} twice for the {product}.',
      'The invoice of {date} lists a {product} I never ordered.',
    ],
    details: [
      'My bank shows both payments as final, {days} days apart.',
      'Your portal says "paid", your reminder says "overdue". Which one is it?',
      'Bitte senden Sie mir eine korrigierte Rechnung.',
    ],
  },
  {
    category: 'delivery',
    urgency: ['low', 'normal', 'high'],
    subjects: ['Where is order {order}?', 'Parcel marked delivered, nothing here', 'Wrong address on {order}'],
    openings: [
      'Tracking for order {order} has not moved for {days} days.',
      'The courier says the {product} was left with a neighbour. None of them has it.',
    ],
    details: [
      'I need it before {date}, it is a present.',
      'Can you send it to the pick-up point instead?',
      'Je suis absent la semaine prochaine, merci de me répondre avant.',
    ],
  },
  {
    category: 'damage',
    urgency: ['normal', 'high', 'high'],
    subjects: ['{product} arrived broken', 'Part missing from {product}', 'Smoke from the {product}'],
    openings: [
      'The {product} came with a crack along the left side.',
      'After {days} days the {product} began to smell burnt, so I unplugged it.',
    ],
    details: [
      'Photos are attached; the box was dented as well.',
      'I would rather have a replacement than my {amount} back.',
      'Two screws and the manual are missing from the bag.',
    ],
  },
  {
    category: 'account',
    urgency: ['normal', 'high'],
    subjects: ['Cannot sign in', 'Password mail never comes', 'Someone else uses my account'],
    openings: [
      'Since {date} every sign-in ends with "try again later".',
      'There is an order {order} in my account that I did not place.',
    ],
    details: [
      'I have cleared cookies, changed browsers and waited {days} days.',
      'Please lock the account until this is clear!',
      'No puedo entrar ni con el código de recuperación.',
    ],
  },
  {
    category: 'question',
    urgency: ['low', 'low', 'normal'],
    subjects: ['Does the {product} work abroad?', 'Warranty of the {product}', 'Which size do I need?'],
    openings: [
      'Before I spend {amount}: does the {product} run on 110 V?',
      'How long is the warranty if I buy the {product} as a company?',
    ],
    details: [
      'The description says "2 years" at the top and "24 months, parts only" below 🤔',
      'A colleague has had hers for {days} days and likes it.',
      'An answer by {date} would be early enough.',
    ],
  },
  {
    category: 'cancellation',
    urgency: ['normal', 'normal', 'high'],
    subjects: ['Please cancel {order}', 'End my subscription', 'Changed my mind about the {product}'],
    openings: [
      'Please cancel order {order}; I found the {product} nearer by.',
      'I want to end the monthly plan for the {product} before {date}.',
    ],
    details: [
      'It has not been shipped yet according to your page.',
      'I was told on the phone that {days} days are enough notice.',
      'Confirm by e-mail, please, and tell me when the {amount} come back.',
    ],
  },
  {
    category: 'praise',
    urgency: ['low'],
    subjects: ['Thank you', 'The {product} is lovely', 'Kudos to your support'],
    openings: [
      'I have used the {product} for {days} days now and it is the best I have had.',
      'Your colleague solved my problem with order {order} in five minutes.',
    ],
    details: ['No need to answer.', 'I have told all my friends.', 'Worth every cent of the {amount}.'],
  },
];

const PRODUCTS = [
  'kettle',
  'desk lamp',
  'coffee grinder',
  'standing desk',
  'noise-cancelling headset',
  'air purifier',
  'robot vacuum',
  'bike light',
  'rice cooker',
  'label printer',
];

/** So many tickets; always the same ones. */
export function makeTickets(count: number): Ticket[] {
  const draw = createDraw();
  return Array.from({ length: count }, (_, index) => makeTicket(index + 1, draw));
}

type Draw = <T>(choices: readonly T[]) => T;

function makeTicket(number: number, draw: Draw): Ticket {
  const theme = draw(THEMES);
  const facts: { readonly [name: string]: string } = {
    product: draw(PRODUCTS),
    order: `B-${String(48_000 + number * 7)}`,
    amount: `${draw([19, 34, 49, 79, 129, 249, 399])}.${draw(['00', '50', '90', '99'])} EUR`,
    days: String(draw([2, 3, 4, 6, 9, 12, 21])),
    date: `${draw([3, 7, 12, 18, 24, 28])} ${draw(['March', 'April', 'May', 'June'])}`,
  };
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (place, name: string) => facts[name] ?? place);
  const details = [draw(theme.details), draw(theme.details)].filter((text, index, all) => all.indexOf(text) === index);
  return {
    id: `ticket_${String(number).padStart(6, '0')}`,
    subject: fill(draw(theme.subjects)),
    body: fill([draw(theme.openings), ...details].join(' ')),
    category: theme.category,
    urgency: draw(theme.urgency),
  };
}

/** Picks in a fixed order that looks like none (a linear congruential generator, Numerical Recipes). */
function createDraw(): Draw {
  let state = 20_260_819;
  return (choices) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const chosen = choices[Math.floor((state / 2 ** 32) * choices.length)];
    if (chosen === undefined) throw new RangeError('nothing to choose from');
    return chosen;
  };
}
