<?php
// The route that <bag-adres-form> asks, for PHP 8.1 with openssl and allow_url_fopen. The key stays on this side.
$url = trim((string) getenv('BAG_ADRES_URL'));
$key = trim((string) getenv('BAG_ADRES_KEY'));
$query = ['include' => 'toevoegingen,gemeente'];
foreach (['postcode', 'huisnummer', 'toevoeging'] as $name) {
    $query[$name] = is_string($_GET[$name] ?? null) ? $_GET[$name] : '';
}
$answer = null;
$failure = 'Set BAG_ADRES_URL and BAG_ADRES_KEY to the address of the service and a key of it.';
if (preg_match('#^https?://#i', $url) && preg_match('/^bagadres_[\w.-]+$/D', $key)) {
    $failure = 'The lookup failed: no valid response in 3 seconds. Check BAG_ADRES_URL and the connection.';
    $end = microtime(true) + 3;
    // A redirect would take the key along.
    $http = ['header' => "X-API-Key: $key", 'timeout' => 3, 'ignore_errors' => true, 'follow_location' => 0];
    // The separator is named because `arg_separator.output` may be another.
    $url = rtrim($url, '/') . '/v1/address?' . http_build_query($query, '', '&');
    $stream = @fopen($url, 'r', false, stream_context_create(['http' => $http]));
    if ($stream) {
        $status = (int) (explode(' ', stream_get_meta_data($stream)['wrapper_data'][0] ?? '')[1] ?? 0);
        for ($body = ''; !feof($stream) && microtime(true) < $end; $body .= @fread($stream, 65536));
        $answer = json_decode($body, true);
        if ($status === 200 && in_array($answer['status'] ?? null, ['ok', 'not_found', 'ambiguous'], true)) $failure = '';
        elseif ($status === 422 && is_array($answer['errors'] ?? null)) [$answer['status'], $failure] = ['invalid', ''];
        elseif ($status !== 200 && $status !== 422) $failure = "The lookup failed with status $status.";
    }
}
if ($failure !== '') {
    error_log($failure);
    $answer = ['status' => 'unavailable']; // People type. The cause is ours to log, not theirs to read.
}
header('Content-Type: application/json');
header('Cache-Control: no-store');
echo json_encode($answer);
