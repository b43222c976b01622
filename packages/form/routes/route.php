<?php
// The route that <bag-adres-form> asks, for PHP with its curl extension. The key stays on this side.
$query = http_build_query([
    'postcode' => $_GET['postcode'] ?? '', 'huisnummer' => $_GET['huisnummer'] ?? '',
    'toevoeging' => $_GET['toevoeging'] ?? '', 'include' => 'toevoegingen,gemeente',
]);
$call = curl_init(rtrim(getenv('BAG_ADRES_URL'), '/') . '/v1/address?' . $query);
curl_setopt_array($call, [
    CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 3,
    CURLOPT_HTTPHEADER => ['X-API-Key: ' . getenv('BAG_ADRES_KEY')],
]);
$body = json_decode(curl_exec($call) ?: 'null', true);
$status = curl_getinfo($call, CURLINFO_RESPONSE_CODE);
if ($status === 422) $body = ['status' => 'invalid'] + array_diff_key($body ?? [], ['status' => 0]);
elseif ($status !== 200 || $body === null) {
    error_log("The lookup failed with status $status."); // People type. The cause is ours to log, not theirs to read.
    $body = ['status' => 'unavailable'];
}
header('Content-Type: application/json');
header('Cache-Control: no-store');
echo json_encode($body);
