// Korean texts of the page: tool results and the sources of answers.

export const results = {
  source: '출처 {{number}}: {{title}}',
  sources_other: '출처 {{count}}개',
  cited: '인용됨',
  alsoFound: '함께 찾은 결과',
  more: {
    items_other: '{{count}}개 더 보기',
    lines_other: '{{count}}줄 더 보기',
    rows_other: '{{count}}행 더 보기',
  },
  omitted: {
    items_other: '{{count}}개가 원본 데이터에 더 있습니다.',
    lines_other: '{{count}}줄이 원본 데이터에 더 있습니다.',
    rows_other: '{{count}}행이 원본 데이터에 더 있습니다.',
    characters_other: '{{count}}자가 더 있지만 표시되지 않습니다.',
  },
  fold: '간단히 보기',
  links: '링크',
  lines: '{{total}}줄 중 {{first}}–{{last}}줄',
  rows_other: '{{count}}행',
  download: 'CSV 다운로드',
  linesRead: '{{total}}줄 중 1–{{last}}줄만 읽었습니다.',
  moreMatches: '일치하는 항목이 더 있을 수 있습니다.',
  noOutput: '출력 없음',
  timedOut: '시간 초과',
  feelsLike: '체감',
  humidity: '습도',
  wind: '바람',
  forecast: '예보',
}
