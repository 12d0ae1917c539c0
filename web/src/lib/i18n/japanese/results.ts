// Japanese texts of the page: tool results and the sources of answers.

export const results = {
  source: '出典 {{number}}：{{title}}',
  sources_other: '{{count}} 件の出典',
  cited: '引用',
  alsoFound: 'その他の検索結果',
  more: {
    items_other: 'さらに {{count}} 件を表示',
    lines_other: 'さらに {{count}} 行を表示',
    rows_other: 'さらに {{count}} 行を表示',
  },
  omitted: {
    items_other: '残りの {{count}} 件は生データにあります。',
    lines_other: '残りの {{count}} 行は生データにあります。',
    rows_other: '残りの {{count}} 行は生データにあります。',
    characters_other: '残りの {{count}} 文字は表示されていません。',
  },
  fold: '表示を減らす',
  links: 'リンク',
  lines: '全 {{total}} 行中 {{first}}–{{last}} 行',
  rows_other: '{{count}} 行',
  download: 'CSV をダウンロード',
  linesRead: '全 {{total}} 行のうち 1–{{last}} 行だけを読み取りました。',
  moreMatches: '他にも一致するものがある可能性があります。',
  noOutput: '出力なし',
  timedOut: '時間切れ',
  feelsLike: '体感',
  humidity: '湿度',
  wind: '風',
  forecast: '予報',
}
